// A position set up by hand: put pieces on cells, or type its text; the server reads it and says what is wrong.
//
//     const setUp = new SetUp({ game, options, text, use });      use(text) is called with a position that can be read
//     parent.append(setUp.element);
//
// Pieces come from the stock of the board, which may be limited. Where the table of the board holds pieces, those that
// are not on the board lie in its rows.

import { post } from "./api.js";
import { BoardView } from "./board.js";
import { html, pieceIcon } from "./svg.js";

export class SetUp {
  constructor({ game, options, text = "", use }) {
    Object.assign(this, { game, options, use });
    this.placed = new Map(); // cell -> the numbers of its pieces in the stock, from the bottom up
    this.rows = new Map(); // row of the table -> the numbers of its pieces
    this.tools = new Map(); // button of the palette -> {kind} to put, {row} to move to a row of the table, {} to remove
    this.asked = 0;
    const place = html("div");
    this.board = new BoardView(place);
    this.board.addEventListener("refused", (event) => this.press(event.detail.touched[0]));
    this.palette = html("div", { class: "palette", hidden: true });
    this.player = html("select", { "aria-label": "Player to move", onchange: () => this.arrange() });
    this.table = html("div", { class: "board-table", hidden: true });
    this.text = html("input", { value: text, "aria-label": "The position as text", spellcheck: "false", autocomplete: "off", onchange: () => this.read() });
    this.message = html("p", { class: "setup-message", role: "status" }, "Reading the position ...");
    this.note = html("p", { class: "muted", hidden: true });
    this.done = html("button", { type: "button", class: "primary", disabled: true, onclick: () => this.use(this.text.value) }, "Use this position");
    this.clear = html("button", { type: "button", onclick: () => this.empty() }, "Empty board");
    this.element = html(
      "section",
      { class: "setup panel", "aria-label": "Set up a position" },
      ...[html("h2", {}, "Set up a position"), this.note, this.palette, place, this.table, this.player, this.text, this.message],
      html("div", { class: "toolbar" }, this.done, this.clear),
    );
    this.ready = this.read(true);
  }

  // --- the server --------------------------------------------------------------------------------------------------

  /** Read the text, and show its position. */
  async read(isFirst = false) {
    const view = await this.ask("/api/positions", { position: this.text.value.trim() || undefined });
    if (!view) return;
    if (isFirst) this.text.value = view.text;
    this.take(view);
    this.judge(view);
  }

  /** Ask the server for the position of the pieces. */
  async arrange() {
    this.draw();
    const placed = Object.fromEntries([...this.placed].map(([cell, pile]) => [cell, this.layout.stacks ? pile : pile[0]]));
    const answer = await this.ask("/api/arrange", { placed: { ...placed, ...Object.fromEntries(this.rows) }, player: Number(this.player.value) });
    if (!answer) return;
    this.layout = { ...this.layout, cells: answer.cells };
    this.draw();
    if (answer.view) {
      this.text.value = answer.view.text;
      this.judge(answer.view);
    } else this.refuse(answer.problem);
  }

  /** The answer to a request; null if it was refused, or if another one was made meanwhile. */
  async ask(path, what) {
    const mine = ++this.asked;
    try {
      const answer = await post(path, { game: this.game, options: this.options, ...what });
      return mine === this.asked ? answer : null;
    } catch (error) {
      if (mine === this.asked) this.refuse(error.message);
      return null;
    }
  }

  judge(view) {
    this.done.disabled = false;
    this.message.classList.remove("wrong");
    this.message.textContent = view.over ? "This position can be used; the game is over in it." : "This position can be played.";
  }

  refuse(why) {
    this.done.disabled = true;
    this.message.classList.add("wrong");
    this.message.textContent = `Not yet: ${why}.`.replace(/\.\.$/, ".");
  }

  // --- pieces ------------------------------------------------------------------------------------------------------

  /** Take over the pieces of a view. */
  take(view) {
    if (!view.board) {
      this.note.hidden = false;
      this.note.textContent = view.problem;
      return;
    }
    const isFirst = !this.layout;
    this.layout = view.board;
    const { stock, pieces, table } = this.layout;
    const kinds = stock.map((piece) => piece.kind);
    this.placed = new Map();
    for (const piece of pieces) this.placed.set(piece.cell, [...(this.placed.get(piece.cell) ?? []), kinds.indexOf(piece.kind)]);
    this.rows = new Map(!table?.holds ? [] : table.rows.map((row) => [row.name, row.entries.flatMap((count, at) => Array(count).fill(kinds.indexOf(table.columns[at].kind)))]));
    if (isFirst) this.offer();
    this.player.value = String(Math.max(0, view.to_move ?? 0));
    this.draw();
  }

  /** The number of pieces of a kind that can still be put on the board. */
  left(kind) {
    const { most } = this.layout.stock[kind];
    if (this.rows.size) return [...this.rows.values()].flat().filter((each) => each === kind).length;
    return most === 0 ? Infinity : most - [...this.placed.values()].flat().filter((each) => each === kind).length;
  }

  press(cell) {
    if (!this.layout?.stock.length || !this.layout.cells.some((each) => each.id === cell)) return;
    const pile = this.placed.get(cell) ?? [];
    const { kind, row } = this.tool;
    const isRepeated = kind !== undefined && !this.layout.stacks && pile[0] === kind;
    if (kind === undefined || isRepeated) this.lift(cell, row);
    else {
      if (this.left(kind) < 1) {
        this.message.textContent = `No ${this.layout.stock[kind].name} is left to be placed.`;
        return;
      }
      if (!this.layout.stacks) this.lift(cell);
      const from = [...this.rows.values()].sort((a, b) => count(b, kind) - count(a, kind))[0];
      from?.splice(from.indexOf(kind), 1);
      this.placed.set(cell, [...(this.placed.get(cell) ?? []), kind]);
    }
    this.arrange();
  }

  /** Take the upper piece off a cell, into a row of the table if it holds pieces. */
  lift(cell, row = this.rows.keys().next().value) {
    const pile = this.placed.get(cell);
    if (!pile) return;
    const kind = pile.pop();
    if (!pile.length) this.placed.delete(cell);
    if (this.rows.size) this.rows.get(row).push(kind);
  }

  /** Move a piece of a kind from a row of the table to the next one. */
  pass(row, kind) {
    const names = [...this.rows.keys()];
    const pile = this.rows.get(row);
    if (!pile.includes(kind)) return;
    pile.splice(pile.indexOf(kind), 1);
    this.rows.get(names[(names.indexOf(row) + 1) % names.length]).push(kind);
    this.arrange();
  }

  empty() {
    for (const cell of [...this.placed.keys()]) while (this.placed.has(cell)) this.lift(cell);
    this.arrange();
  }

  // --- drawing -----------------------------------------------------------------------------------------------------

  /** The pieces to choose from. A game without them is set up by its text. */
  offer() {
    const { stock, glyphs, players, table } = this.layout;
    this.player.replaceChildren(...players.map((name, player) => html("option", { value: String(player) }, `${name} to move`)));
    this.clear.hidden = this.palette.hidden = this.player.hidden = stock.length === 0;
    this.note.hidden = stock.length > 0;
    this.note.textContent = "This game is set up by its text. To get one, play the moves in a game in which all seats are yours, and copy the position below them.";
    this.tools = new Map();
    const tool = (what, name, key, ...content) => {
      const button = html("button", { type: "button", class: "palette-piece", "aria-label": name, "data-kind": key, onclick: () => this.choose(what) }, ...content);
      this.tools.set(button, what);
      return button;
    };
    const owners = [...new Set(stock.map((piece) => piece.owner))];
    const groups = owners.map((owner) => html("div", { class: "toolbar", role: "group", "aria-label": owner === null ? "Pieces to place" : `Pieces of ${players[owner]}` }));
    stock.forEach((piece, kind) => {
      const left = piece.most > 0 ? html("span", { class: "count" }) : null;
      groups[owners.indexOf(piece.owner)].append(tool({ kind }, piece.name, String(kind), pieceIcon(piece, glyphs), left));
    });
    const removers = table?.holds ? table.rows.map(({ name }) => tool({ row: name }, `${name} takes`, name, `${name} takes`)) : [tool({}, "remove", "remove", "\u2715")];
    if (table?.holds) for (const remover of removers) remover.classList.add("wide");
    this.palette.replaceChildren(...groups, html("div", { class: "toolbar", role: "group", "aria-label": "Remove pieces" }, ...removers));
    this.choose([...this.tools.values()][0]);
  }

  choose(what) {
    this.tool = what;
    for (const [button, each] of this.tools) button.setAttribute("aria-pressed", String(each === what));
  }

  draw() {
    const { stock, cells, table } = this.layout;
    const known = new Set(cells.map((cell) => cell.id));
    const pieces = [...this.placed].filter(([cell]) => known.has(cell)).flatMap(([cell, pile]) => pile.map((kind, level) => kind >= 0 && { ...stock[kind], cell, level }).filter(Boolean));
    const shown = { ...this.layout, pieces: stock.length ? pieces : this.layout.pieces, moves: [], last: [], won: [], falls: false };
    if (stock.length) Object.assign(shown, { hands: [], notes: [], table: table?.holds ? null : table });
    this.board.show(shown, { moves: [], animate: false });
    for (const [button, { kind }] of this.tools) {
      const place = button.querySelector(".count");
      if (place) place.textContent = String(this.left(kind));
      button.classList.toggle("spent", kind !== undefined && this.left(kind) < 1);
    }
    if (table?.holds) this.drawTable();
  }

  /** The table of the pieces beside the board: a press on a number gives one piece to the next row. */
  drawTable() {
    const { table, stock, glyphs } = this.layout;
    const names = [...this.rows.keys()];
    const kinds = stock.map((piece) => piece.kind);
    const head = table.columns.map((piece) => html("th", { scope: "col" }, pieceIcon(piece, glyphs), html("span", { class: "visually-hidden" }, piece.name)));
    const entry = (row, piece, next) => {
      const kind = kinds.indexOf(piece.kind);
      const has = count(this.rows.get(row), kind);
      const key = `${row} ${kind}`;
      const label = `${row} has ${has} of ${piece.name}${has ? `; give one to ${next}` : ""}`;
      return html("td", {}, html("button", { type: "button", class: "entry", "data-entry": key, "aria-label": label, "aria-disabled": String(!has), title: has ? `give one to ${next}` : null, onclick: () => this.pass(row, kind) }, String(has)));
    };
    const rows = names.map((row, at) => html("tr", {}, html("th", { scope: "row" }, row), ...table.columns.map((piece) => entry(row, piece, names[(at + 1) % names.length]))));
    const focused = this.table.contains(document.activeElement) ? document.activeElement.dataset.entry : null;
    this.table.hidden = false;
    this.table.replaceChildren(html("table", {}, html("caption", {}, table.title), html("thead", {}, html("tr", {}, html("td"), ...head)), html("tbody", {}, ...rows)), html("p", { class: "muted" }, "Press a number to move one to the next row."));
    if (focused) this.table.querySelector(`[data-entry="${CSS.escape(focused)}"]`)?.focus();
  }
}

function count(pile, kind) {
  return pile.filter((each) => each === kind).length;
}
