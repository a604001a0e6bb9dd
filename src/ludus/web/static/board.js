// The board of a game in the page: draws the data of ludus.board (docs/board.md) as SVG, and turns clicks and keys into
// moves.
//
//     const view = new BoardView(element);
//     view.show(board, { moves, animate });          moves: those that this browser may play; [] to look only
//     view.addEventListener("move", (event) => ...)       event.detail: {player, action, move}
//     view.addEventListener("refused", (event) => ...)    event.detail: {player, touched}: fits no legal move
//     view.addEventListener("shown", ...)            another board was drawn, without an overlay
//     view.say(text)                                 shows a line below the board, and reads it out
//     view.overlay(marks)                            heat and arrows of an analysis, see overlay.js

import { drawOverlay } from "./overlay.js";
import { Camera } from "./camera.js";
import { outlook, press } from "./selection.js";
import { drawPiece, html, outline, pieceIcon, svg, UNIT } from "./svg.js";

const STACK_STEP = 13;
const MOST_BUTTONS = 200;
const FILTER_FROM = 16;
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class BoardView extends EventTarget {
  constructor(element) {
    super();
    this.element = element;
    this.board = null;
    this.moves = [];
    this.touched = [];
    this.focused = null;
    this.pieces = new Map();
    this.marks = [];
    this.build();
  }

  build() {
    this.layers = Object.fromEntries(
      ["cells", "lines", "below", "pieces", "frame", "names", "hints", "over", "hits"].map((name) => [name, svg("g", { class: `layer-${name}` })]),
    );
    for (const name of ["lines", "below", "pieces", "frame", "names", "hints", "over"]) this.layers[name].setAttribute("aria-hidden", "true");
    this.layers.hits.setAttribute("role", "group");
    this.layers.hits.setAttribute("aria-label", "Board");
    this.svg = svg("svg", { class: "board-svg" }, ...Object.values(this.layers));
    this.zoom = html(
      "div",
      { class: "board-zoom", role: "group", "aria-label": "Zoom" },
      html("button", { type: "button", class: "icon", "aria-label": "Zoom in", onclick: () => this.camera.scale(0.8) }, "+"),
      html("button", { type: "button", class: "icon", "aria-label": "Zoom out", onclick: () => this.camera.scale(1.25) }, "\u2212"),
      html("button", { type: "button", class: "icon", "aria-label": "Show the whole board", onclick: () => this.camera.fit() }, "\u2922"),
    );
    this.frame = html("div", { class: "board-frame" }, this.svg, this.zoom);
    this.hands = [html("div", { class: "hands" }), html("div", { class: "hands" })];
    this.text = html("pre", { class: "board-text", tabindex: "0", role: "region", "aria-label": "Position" });
    this.turn = html("p", { class: "board-turn", hidden: true });
    this.hint = html("p", { class: "board-hint" });
    this.actions = html("div", { class: "board-actions" });
    this.buttons = html("div", { class: "board-buttons", role: "group", "aria-label": "Moves" });
    this.table = html("div", { class: "board-table" });
    this.notes = html("div", { class: "board-notes" });
    this.live = html("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.element.classList.add("board");
    this.element.replaceChildren(this.hands[1], this.frame, this.text, this.hands[0], this.turn, this.hint, this.actions, this.buttons, this.table, this.notes, this.live);
    this.camera = new Camera(this.svg);
    this.svg.addEventListener("click", (event) => this.camera.dragged || this.onPress(event.target.closest("[data-cell]")));
    this.svg.addEventListener("pointerover", (event) => this.onHover(event.target.closest("[data-cell]")));
    this.svg.addEventListener("pointerleave", () => this.onHover(null));
    // On the frame: an SVG element that listens for focus would be a stop of the Tab key in Chromium.
    this.frame.addEventListener("focusin", (event) => this.onHover(event.target.closest("[data-cell]")));
    this.element.addEventListener("keydown", (event) => this.onKey(event));
  }

  // --- drawing ---------------------------------------------------------------------------------------------------

  show(board, { moves = [], animate = true } = {}) {
    const before = this.board;
    this.board = board;
    this.moves = moves;
    this.player = moves.length ? moves[0].player : null;
    this.own = moves.filter((move) => move.player === this.player);
    const others = moves.some((move) => move.player !== this.player);
    this.turn.hidden = !others;
    this.turn.textContent = others ? `${board.players[this.player]} chooses; the others do not see it until all have moved.` : "";
    this.touched = [];
    this.cells = new Map(board.cells.map((cell) => [cell.id, cell]));
    this.hasCells = board.cells.length > 0;
    this.frame.hidden = !this.hasCells;
    this.zoom.hidden = !board.pans;
    this.frame.classList.toggle("pans", board.pans);
    this.text.hidden = this.hasCells;
    this.text.textContent = this.hasCells ? "" : board.notes.join("\n");
    this.notes.replaceChildren(...(this.hasCells ? board.notes : []).map((line) => html("p", {}, line)));
    this.heights = new Map();
    for (const piece of board.pieces) this.heights.set(piece.cell, Math.max(this.heights.get(piece.cell) ?? 0, piece.level + 1));
    this.drawCells(before);
    this.drawPieces(animate && before !== null);
    this.drawHands();
    this.drawTable();
    this.drawMarks();
    this.overlay([]);
    this.refresh();
    this.hint.textContent = "";
    if (before && board.last.length && before.last.join() !== board.last.join()) this.say(`last move: ${board.last.join(" to ")}`, false);
    this.dispatchEvent(new CustomEvent("shown"));
  }

  drawCells(before) {
    const { board } = this;
    const same = before && JSON.stringify(before.cells) === JSON.stringify(board.cells);
    if (!same) {
      this.layers.cells.replaceChildren(...board.cells.filter((cell) => cell.shape !== "hole").map((cell) => this.drawCell(cell)));
      this.layers.frame.replaceChildren(...board.cells.filter((cell) => cell.shape === "hole").map(drawHole));
      this.layers.names.replaceChildren(
        ...board.marks.map((mark) => svg("text", { x: mark.x * UNIT, y: mark.y * UNIT, "font-size": markSize(board) }, mark.text)),
      );
      this.layers.lines.replaceChildren(
        ...board.lines.map((line) => svg("polyline", { points: line.points.map(([x, y]) => `${x * UNIT},${y * UNIT}`).join(" "), stroke: line.paint })),
      );
      this.camera.frame(bounds(board), board.pans);
    }
    const kept = this.cells.has(this.focused) ? this.focused : board.last.at(-1) ?? board.cells[0]?.id ?? null;
    const refocus = this.layers.hits.contains(document.activeElement);
    this.focused = kept;
    if (!same) {
      this.hits = new Map();
      this.layers.hits.replaceChildren(
        ...board.cells.map((cell) => {
          const hit = outline(cell, 0, { class: "hit", "data-cell": cell.id, role: "button", tabindex: "-1" });
          this.hits.set(cell.id, hit);
          return hit;
        }),
      );
    }
    const on = new Map();
    for (const piece of board.pieces) on.set(piece.cell, [piece.name, ...(on.get(piece.cell) ?? [])]);
    for (const [id, hit] of this.hits) {
      hit.setAttribute("aria-label", [id, ...(on.has(id) ? [on.get(id).join(" on ")] : ["empty"]), ...(board.last.includes(id) ? ["last move"] : [])].join(", "));
      hit.setAttribute("tabindex", id === kept ? "0" : "-1");
    }
    if (refocus && kept !== null) this.hits.get(kept).focus();
  }

  drawCell(cell) {
    const paint = cell.paint.startsWith("#") ? cell.paint : null;
    return outline(cell, 0, { class: `cell ${cell.paint === "alt" ? "alt" : ""}`, fill: paint });
  }

  /** Update the pieces; those that moved slide, new ones may fall, and those that were taken lift off. */
  drawPieces(animate) {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const wanted = new Map(this.board.pieces.map((piece) => [JSON.stringify(piece), piece]));
    const gone = [...this.pieces].filter(([key]) => !wanted.has(key));
    const ordered = [];
    for (const [key, piece] of wanted) {
      const kept = this.pieces.get(key);
      if (kept) {
        ordered.push([key, kept]);
        continue;
      }
      const [x, y] = this.placeOf(piece);
      const inner = drawPiece(piece, this.board.glyphs);
      const element = svg("g", { transform: `translate(${x} ${y})` }, inner);
      ordered.push([key, { element, piece, x, y }]);
      if (!animate || still) continue;
      const from = gone.findIndex(([, old]) => old.piece.name === piece.name && old.piece.owner === piece.owner);
      if (from >= 0) {
        const [[, old]] = gone.splice(from, 1);
        old.element.remove();
        slide(inner, old.x - x, old.y - y);
      } else if (this.board.falls) fall(inner, y - bounds(this.board).top * UNIT);
      else appear(inner);
    }
    this.pieces = new Map(ordered);
    const leaving = gone.map(([, old]) => old.element).filter((element) => element.isConnected);
    this.layers.pieces.replaceChildren(...ordered.map(([, { element }]) => element), ...(animate && !still ? leaving : []));
    if (animate && !still) for (const element of leaving) liftOff(element);
  }

  placeOf(piece) {
    const cell = this.cells.get(piece.cell);
    return [cell.x * UNIT, cell.y * UNIT - STACK_STEP * piece.level];
  }

  drawHands() {
    const { hands, players, glyphs } = this.board;
    for (const place of this.hands) place.replaceChildren();
    for (const hand of hands) {
      const pieces = hand.pieces.map((piece) =>
        html(
          "button",
          { type: "button", class: "hand-piece", "data-hand": piece.cell, "aria-label": `${piece.name}, ${piece.count} in hand`, "aria-pressed": "false", onclick: () => this.onPress(piece.cell) },
          pieceIcon(piece, glyphs),
          html("span", { class: "count" }, String(piece.count)),
        ),
      );
      const label = `Hand of ${players[hand.player]}`;
      this.hands[hand.player % 2].append(
        html("div", { class: "hand", role: "group", "aria-label": label }, html("span", { class: "hand-name" }, players[hand.player]), ...(pieces.length ? pieces : [html("span", { class: "muted" }, "nothing in hand")])),
      );
    }
  }

  drawTable() {
    const { table, glyphs } = this.board;
    this.table.hidden = !table;
    this.element.classList.toggle("has-table", table !== null);
    if (!table) return;
    const head = table.columns.map((piece) => html("th", { scope: "col" }, pieceIcon(piece, glyphs), html("span", { class: "visually-hidden" }, piece.name)));
    const rows = table.rows.map((row) => html("tr", {}, html("th", { scope: "row" }, row.name), ...row.entries.map((entry) => html("td", {}, String(entry)))));
    this.table.replaceChildren(html("table", {}, html("caption", {}, table.title), html("thead", {}, html("tr", {}, html("td"), ...head)), html("tbody", {}, ...rows)));
  }

  drawMarks() {
    const rings = (ids, name, inset) => ids.filter((id) => this.cells.has(id)).map((id) => outline(this.cells.get(id), inset, { class: name }));
    const behind = this.board.last.filter((id) => this.cells.get(id)?.shape !== "hole");
    const before = this.board.last.filter((id) => this.cells.get(id)?.shape === "hole");
    this.layers.below.replaceChildren(...rings(behind, "last", 0.06));
    this.fixed = [...rings(before, "last ring", 0.12), ...rings(this.board.won, "won", 0.06)];
  }

  // --- selecting -------------------------------------------------------------------------------------------------

  /** Show what is selected and what can be clicked next. */
  refresh() {
    const { touched, own, board } = this;
    const { alive, complete, next } = outlook(own, touched, board.any_order);
    const marks = [...this.fixed];
    for (const id of touched) if (this.cells.has(id)) marks.push(outline(this.cells.get(id), 0.08, { class: "selected" }));
    if (touched.length) {
      for (const id of next) {
        const cell = this.cells.get(id);
        if (!cell) continue;
        const occupied = this.heights.has(id);
        if (occupied) marks.push(outline(cell, 0.1, { class: "target taken" }));
        else marks.push(svg("circle", { cx: cell.x * UNIT, cy: cell.y * UNIT, r: 15, class: "target" }));
      }
    }
    this.layers.hints.replaceChildren(...marks);
    for (const [id, hit] of this.hits) {
      hit.classList.toggle("live", next.has(id) || touched.includes(id));
      if (touched.includes(id)) hit.setAttribute("aria-pressed", "true");
      else hit.removeAttribute("aria-pressed");
    }
    for (const { element, piece } of this.pieces.values()) element.classList.toggle("lifted", touched.includes(piece.cell) && piece.level + 1 === this.heights.get(piece.cell));
    for (const button of this.element.querySelectorAll(".hand-piece")) {
      const id = button.dataset.hand;
      button.setAttribute("aria-pressed", String(touched.includes(id)));
      button.classList.toggle("live", next.has(id) || touched.includes(id));
    }
    const choices = complete.map((move) => this.moveButton(move, complete.length > 1 ? move.move : `Play ${move.move}`, "primary"));
    if (touched.length) choices.push(html("button", { type: "button", onclick: () => this.clear() }, "Cancel"));
    this.actions.replaceChildren(...choices);
    this.drawButtons();
    if (touched.length) this.say(`${touched.join(", ")} selected; ${alive.length} ${alive.length === 1 ? "move" : "moves"}`, false);
  }

  moveButton(move, label = move.move, kind = "") {
    return html("button", { type: "button", class: `move ${kind}`, "data-move": move.move, onclick: () => this.play(move) }, label);
  }

  /** Moves that touch nothing, or all moves where there are no cells to click. */
  drawButtons() {
    const listed = this.own.filter((move) => move.touches.length === 0);
    this.buttons.hidden = listed.length === 0;
    const key = listed.map((move) => `${move.player} ${move.action} ${move.move}`).join("\n");
    if (this.listed === key) return;
    this.listed = key;
    this.buttons.setAttribute("aria-label", listed.length ? `Moves of ${this.board.players[this.player]}` : "Moves");
    const list = html("div", { class: "move-list" });
    const fill = (text) => {
      const found = listed.filter((move) => move.move.toLowerCase().includes(text.toLowerCase()));
      const more = found.length - MOST_BUTTONS;
      list.replaceChildren(...found.slice(0, MOST_BUTTONS).map((move) => this.moveButton(move)), ...(more > 0 ? [html("span", { class: "muted" }, `and ${more} more: type a part of the move`)] : []));
    };
    fill("");
    const search = html("input", { type: "search", placeholder: "Find a move", "aria-label": "Find a move", oninput: (event) => fill(event.target.value) });
    this.buttons.replaceChildren(...(listed.length >= FILTER_FROM ? [search, list] : [list]));
  }

  onPress(target) {
    const id = typeof target === "string" ? target : target?.dataset.cell;
    if (id === undefined || this.board === null) return;
    if (this.hits.has(id)) this.focus(id);
    if (!this.own.length) {
      this.dispatchEvent(new CustomEvent("refused", { detail: { player: this.player, touched: [id] } }));
      return;
    }
    const effect = press(this.own, this.touched, id, this.board.any_order);
    this.touched = effect.touched;
    if (effect.play) this.play(effect.play);
    else if (effect.refused) this.dispatchEvent(new CustomEvent("refused", { detail: { player: this.player, touched: effect.refused } }));
    this.refresh();
  }

  play(move) {
    this.touched = [];
    this.refresh();
    this.dispatchEvent(new CustomEvent("move", { detail: { player: move.player, action: move.action, move: move.move } }));
  }

  clear() {
    this.touched = [];
    this.refresh();
    this.say("selection cleared", false);
  }

  /** Show the notation of the moves that a click on this cell leads to. */
  onHover(target) {
    const id = target?.dataset.cell;
    this.layers.over.querySelector(".landing")?.remove();
    if (id === undefined || !this.own) {
      if (!this.isSaying) this.hint.textContent = "";
      return;
    }
    this.isSaying = false;
    const { alive } = outlook(this.own, [...this.touched, id], this.board.any_order);
    const shown = alive.slice(0, 4).map((move) => move.move).join("  ");
    this.hint.textContent = alive.length ? `${shown}${alive.length > 4 ? `  and ${alive.length - 4} more` : ""}` : this.hits.get(id).getAttribute("aria-label");
    if (alive.length === 1 && alive[0].touches.length === 1) {
      const landing = this.cells.get(alive[0].touches[0][0]);
      this.layers.over.append(svg("circle", { class: "landing", cx: landing.x * UNIT, cy: landing.y * UNIT, r: 34 }));
    }
  }

  /** Show a line below the board and read it out. */
  say(text, isShown = true) {
    this.live.textContent = text;
    if (!isShown) return;
    this.hint.textContent = text;
    this.isSaying = text !== "";
  }

  // --- keyboard --------------------------------------------------------------------------------------------------

  onKey(event) {
    if (event.key === "Escape" && this.touched.length) {
      this.clear();
      event.stopPropagation();
      return;
    }
    const id = event.target.closest?.("[data-cell]")?.dataset.cell;
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) this.focus(this.neighbour(id, STEPS[event.key]) ?? id);
    else if (event.key === "Enter" || event.key === " ") this.onPress(id);
    else if (event.key === "Home") this.focus(this.board.cells[0].id);
    else if (event.key === "End") this.focus(this.board.cells.at(-1).id);
    else return;
    event.preventDefault();
  }

  focus(id) {
    this.hits.get(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = id;
    const hit = this.hits.get(id);
    hit.setAttribute("tabindex", "0");
    hit.focus({ preventScroll: true });
  }

  /** The nearest cell in a direction; cells that lie further aside than ahead count only if there are no others. */
  neighbour(id, [dx, dy]) {
    const here = this.cells.get(id);
    let best = null;
    let least = Infinity;
    for (const cell of this.board.cells) {
      const along = (cell.x - here.x) * dx + (cell.y - here.y) * dy;
      const aside = Math.abs((cell.x - here.x) * dy) + Math.abs((cell.y - here.y) * dx);
      if (along < 0.3) continue;
      const cost = along + 1.5 * aside + (aside > along + 0.01 ? 1000 : 0);
      if (cost < least) [best, least] = [cell.id, cost];
    }
    return best;
  }

  /** Draw heat and arrows for moves: [{move: one of board.moves, share: 0 to 1, label, best}]. */
  overlay(marks) {
    this.marks = marks;
    this.layers.over.replaceChildren(...drawOverlay(this.cells, marks));
  }
}

function drawHole(cell) {
  const [x, y] = [cell.x * UNIT, cell.y * UNIT];
  const circle = `M${x - 40} ${y}a40 40 0 1 0 80 0a40 40 0 1 0 -80 0Z`;
  return svg("path", { class: "hole", d: `M${x - 50.5} ${y - 50.5}h101v101h-101Z${circle}`, "fill-rule": "evenodd" });
}

/** The size of the names beside the cells; somewhat larger on a wide board, whose cells are small. */
function markSize(board) {
  return Math.min(36, Math.max(23, 3.2 * bounds(board).width));
}

/** The rectangle around all cells and marks, in cells. */
function bounds(board) {
  if (board.cells.length === 0) return { left: 0, top: 0, width: 1, height: 1 };
  const xs = board.cells.map((cell) => cell.x);
  const ys = board.cells.map((cell) => cell.y);
  const left = Math.min(...xs.map((x) => x - 0.65), ...board.marks.map((mark) => mark.x - 0.3));
  const right = Math.max(...xs.map((x) => x + 0.65), ...board.marks.map((mark) => mark.x + 0.3));
  const top = Math.min(...ys.map((y) => y - 0.68), ...board.marks.map((mark) => mark.y - 0.3));
  const bottom = Math.max(...ys.map((y) => y + 0.68), ...board.marks.map((mark) => mark.y + 0.3));
  return { left, top, width: right - left, height: bottom - top };
}

// --- animations ----------------------------------------------------------------------------------------------------

function slide(element, dx, dy) {
  element.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: 220, easing: "ease-in-out" });
}

function fall(element, height) {
  const duration = 120 + 22 * Math.sqrt(height);
  element.animate([{ transform: `translate(0, ${-height}px)` }, { transform: "none" }], { duration, easing: "cubic-bezier(.5, 0, .9, .6)" });
}

function appear(element) {
  element.animate([{ transform: "scale(.6)", opacity: 0 }, { transform: "none", opacity: 1 }], { duration: 160, easing: "ease-out" });
}

function liftOff(element) {
  const inner = element.firstElementChild;
  const lift = inner.animate([{ transform: "none", opacity: 1 }, { transform: "translate(0, -50px) scale(1.15)", opacity: 0 }], { duration: 260, easing: "ease-in" });
  lift.onfinish = () => element.remove();
}
