// A position set up by hand: put pieces on cells, or type its text; the server reads it and says what is wrong.
//
//     const setUp = new SetUp({ game, options, text, use });      use(text) is called with a position that can be read
//     parent.append(setUp.element);

import { post } from "./api.js";
import { BoardView } from "./board.js";
import { html, pieceIcon } from "./svg.js";

const ERASER = -1;

export class SetUp {
  constructor({ game, options, text = "", use }) {
    Object.assign(this, { game, options, use });
    this.placed = new Map();
    this.kind = 0;
    this.asked = 0;
    const place = html("div");
    this.board = new BoardView(place);
    this.board.addEventListener("refused", (event) => this.put(event.detail.touched[0]));
    this.palette = html("div", { class: "toolbar palette", role: "group", "aria-label": "Pieces to place" });
    this.player = html("select", { "aria-label": "Player to move", onchange: () => this.arrange() });
    this.text = html("input", { value: text, "aria-label": "The position as text", spellcheck: "false", autocomplete: "off", onchange: () => this.read() });
    this.message = html("p", { class: "setup-message", role: "status" }, "Reading the position ...");
    this.note = html("p", { class: "muted" });
    this.done = html("button", { type: "button", class: "primary", disabled: true, onclick: () => this.use(this.text.value) }, "Use this position");
    this.clear = html("button", { type: "button", onclick: () => this.empty() }, "Empty board");
    this.element = html("section", { class: "setup panel", "aria-label": "Set up a position" }, html("h2", {}, "Set up a position"), this.note, this.palette, place, this.text, this.message, html("div", { class: "toolbar" }, this.done, this.clear));
    this.ready = this.read(true);
  }

  /** Read the text, and show its position. */
  async read(isFirst = false) {
    await this.ask("/api/positions", { position: this.text.value.trim() || undefined }, true);
    if (isFirst && this.view) this.text.value = this.view.text;
  }

  /** Ask the server for the position of the pieces. */
  arrange() {
    this.draw();
    return this.ask("/api/arrange", { placed: Object.fromEntries(this.placed), player: Number(this.player.value) }, false);
  }

  async ask(path, what, takesPieces) {
    const mine = ++this.asked;
    try {
      const view = await post(path, { game: this.game, options: this.options, ...what });
      if (mine !== this.asked) return;
      this.view = view;
      if (!takesPieces) this.text.value = view.text;
      this.take(view, takesPieces);
      this.done.disabled = false;
      this.message.textContent = "This position can be played.";
    } catch (error) {
      if (mine !== this.asked) return;
      this.done.disabled = true;
      this.message.textContent = error.message;
    }
  }

  take(view, takesPieces) {
    this.layout = view.board;
    if (takesPieces) {
      const kinds = this.layout.stock.map((piece) => piece.name);
      this.placed = new Map(this.layout.pieces.map((piece) => [piece.cell, kinds.indexOf(piece.name)]));
      if (!this.player.childElementCount) this.offer();
      this.player.value = String(Math.max(0, view.to_move ?? 0));
    }
    this.draw();
  }

  /** The pieces to choose from. A game without them is set up by its text. */
  offer() {
    const { stock, glyphs, players } = this.layout;
    this.player.replaceChildren(...players.map((name, player) => html("option", { value: String(player) }, `${name} to move`)));
    this.clear.hidden = this.palette.hidden = stock.length === 0;
    this.note.textContent = stock.length ? "" : "This game is set up by its text. To get one, play the moves in a game in which all seats are yours, and copy the position below them.";
    const choice = (kind, name, content) => html("button", { type: "button", class: "palette-piece", "aria-label": name, "aria-pressed": String(kind === this.kind), "data-kind": String(kind), onclick: () => this.choose(kind) }, content);
    this.palette.replaceChildren(...stock.map((piece, kind) => choice(kind, piece.name, pieceIcon(piece, glyphs))), choice(ERASER, "remove", "\u2715"), this.player);
  }

  choose(kind) {
    this.kind = kind;
    for (const button of this.palette.querySelectorAll("[data-kind]")) button.setAttribute("aria-pressed", String(Number(button.dataset.kind) === kind));
  }

  put(cell) {
    if (!this.layout?.stock.length) return;
    if (this.kind === ERASER || this.placed.get(cell) === this.kind) this.placed.delete(cell);
    else this.placed.set(cell, this.kind);
    this.arrange();
  }

  empty() {
    this.placed.clear();
    this.arrange();
  }

  draw() {
    const { stock } = this.layout;
    const pieces = stock.length ? [...this.placed].filter(([, kind]) => kind >= 0).map(([cell, kind]) => ({ ...stock[kind], cell })) : this.layout.pieces;
    this.board.show({ ...this.layout, pieces, moves: [], last: [], won: [], falls: false }, { moves: [], animate: false });
  }
}
