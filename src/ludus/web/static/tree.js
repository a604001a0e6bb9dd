// The panel of the tree that a search has built. Nodes are loaded when they are opened, and only the rows in sight are in
// the page, so that trees of any size stay fluent.

import { compact, percent, signed } from "./analysis.js";
import { BoardView } from "./board.js";
import { html } from "./svg.js";

const ROW = 34;
const SPARE = 6;

export class TreePanel {
  name = "tree";
  title = "Tree";

  constructor(page) {
    this.page = page;
    this.hasTree = false;
    this.nodes = new Map();
    this.expanded = new Set();
    this.chosen = "";
    this.rows = [];
    this.build();
    page.addEventListener("snapshot", () => (this.hasTree = true));
    page.addEventListener("tree", (event) => this.receive(event.detail));
  }

  build() {
    this.count = html("p", { class: "muted", role: "status" }, "No tree yet: analyse a position first.");
    this.source = html("select", { "aria-label": "Whose tree", onchange: () => this.open() });
    this.reload = html("button", { type: "button", onclick: () => this.open() }, "Read the tree");
    this.body = html("div", { class: "tree-rows", role: "rowgroup" });
    this.spacer = html("div", { class: "tree-space" }, this.body);
    this.grid = html("div", { class: "tree-grid", role: "treegrid", "aria-label": "Search tree", tabindex: "0" });
    this.head = html("div", { role: "rowgroup" }, html("div", { class: "tree-row tree-head", role: "row" }, ...["Move", "N", "Q", "P", "U"].map((name) => html("span", { role: "columnheader" }, name))));
    this.grid.append(this.head, this.spacer);
    this.grid.addEventListener("scroll", () => this.draw());
    this.grid.addEventListener("keydown", (event) => this.onKey(event));
    this.details = html("div", { class: "tree-details" });
    this.facts = html("p", { class: "tree-facts" });
    const place = html("div");
    this.details.append(this.facts, place);
    this.board = new BoardView(place);
    this.details.hidden = true;
    this.element = html("div", { class: "tree" }, html("h2", { class: "visually-hidden" }, "Tree"), html("div", { class: "toolbar" }, this.source, this.reload, this.count), this.grid, this.details);
  }

  /** Read the tree anew, from its root. */
  open() {
    this.nodes.clear();
    this.expanded = new Set([""]);
    this.chosen = "";
    this.ask([]);
  }

  /** The trees to choose from: of the analysis, and of the agents in the seats. */
  show(state) {
    const seats = state.players.filter((each) => !each.person).map((each) => [String(each.player), `${each.name}: ${each.seat}`]);
    const key = JSON.stringify(seats);
    if (key === this.seats) return;
    this.seats = key;
    const chosen = this.source.value;
    this.source.replaceChildren(...[["", "of the analysis"], ...seats].map(([value, label]) => html("option", { value }, label)));
    this.source.value = [...this.source.options].some((option) => option.value === chosen) ? chosen : "";
  }

  opened(isOpen) {
    if (isOpen && this.hasTree) this.open();
  }

  ask(path) {
    const player = this.source.value;
    this.page.send(player === "" ? { type: "tree", path } : { type: "tree", path, of: "agent", player: Number(player) });
  }

  receive(message) {
    const key = keyOf(message.path);
    this.nodes.set(key, message);
    this.count.textContent = `${compact(message.size)} nodes`;
    this.element.dataset.size = String(message.size);
    this.layOut();
    if (key === this.chosen) this.describe();
  }

  /** The rows in order: each opened node is followed by its moves, the most visited first. */
  layOut() {
    this.rows = [];
    const add = (path, edge) => {
      const key = keyOf(path);
      this.rows.push({ path, key, edge, level: path.length + 1 });
      const loaded = this.nodes.get(key);
      if (!loaded || !this.expanded.has(key)) return;
      const { edges, joint_moves: joints } = loaded.node;
      if (joints.length) for (const move of joints) add([...path, move], { move, visits: null, has_child: true });
      else for (const next of [...edges].sort((a, b) => b.visits - a.visits)) add([...path, next.move], next);
    };
    if (this.nodes.has("")) add([], null);
    this.spacer.style.setProperty("height", `${this.rows.length * ROW}px`);
    this.grid.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.grid.scrollTop / ROW) - SPARE);
    const last = Math.min(this.rows.length, first + Math.ceil(this.grid.clientHeight / ROW) + 2 * SPARE);
    this.body.style.setProperty("transform", `translateY(${first * ROW}px)`);
    this.body.replaceChildren(...this.rows.slice(first, last).map((row, i) => this.drawRow(row, first + i)));
    const active = this.rows.findIndex((row) => row.key === this.chosen);
    this.grid.setAttribute("aria-activedescendant", active >= first && active < last ? `tree-row-${active}` : "");
  }

  drawRow({ path, key, edge, level }, index) {
    const root = this.nodes.get("")?.node;
    const opens = edge === null || edge.has_child;
    const isOpen = this.expanded.has(key);
    const name = edge === null ? "position" : edge.move;
    const sign = opens ? (isOpen ? "\u25be" : "\u25b8") : "\u00b7";
    const figures = edge === null ? [compact(root.visits), signed(root.values[root.to_move] ?? null), "", ""] : [edge.visits === null ? "" : compact(edge.visits), edge.visits ? `${signed(edge.value)}${edge.solved ? "!" : ""}` : "", edge.prior === null || edge.prior === undefined ? "" : percent(edge.prior), edge.exploration === undefined ? "" : edge.exploration === null ? "\u221e" : edge.exploration.toFixed(3)];
    const label = html("span", { class: "tree-move", role: "gridcell" }, html("span", { class: "twist", "aria-hidden": "true" }, sign), name);
    label.style.setProperty("--level", String(level - 1));
    return html(
      "div",
      {
        class: `tree-row ${key === this.chosen ? "chosen" : ""}`,
        id: `tree-row-${index}`,
        role: "row",
        "aria-level": String(level),
        "aria-rowindex": String(index + 2),
        "aria-expanded": opens ? String(isOpen) : null,
        "aria-selected": String(key === this.chosen),
        "data-path": key,
        onclick: (event) => this.choose(path, event.target.closest(".twist") !== null || key === this.chosen),
      },
      label,
      ...figures.map((figure) => html("span", { role: "gridcell" }, figure)),
    );
  }

  /** Show a node; `turn` opens or closes it. */
  choose(path, turn) {
    const key = keyOf(path);
    const row = this.rows.find((each) => each.key === key);
    const opens = !row || row.edge === null || row.edge.has_child;
    this.chosen = key;
    if (turn && opens) {
      if (this.expanded.has(key)) this.expanded.delete(key);
      else this.expanded.add(key);
    }
    if (opens && !this.nodes.has(key)) this.ask(path);
    this.layOut();
    this.describe();
  }

  describe() {
    const loaded = this.nodes.get(this.chosen);
    this.details.hidden = !loaded;
    if (!loaded) return;
    const { node, view, path } = loaded;
    const values = node.values.map((value, player) => `${view.board?.players[player] ?? player}: ${signed(value)}`).join(", ");
    this.facts.textContent = `${path.length ? path.join(" ") : "the position that was searched"} \u00b7 N ${compact(node.visits)} \u00b7 ${values}${node.solved ? ` \u00b7 solved, ${node.length} plies to the end` : ""}`;
    if (view.board) this.board.show(view.board, { moves: [], animate: false });
  }

  onKey(event) {
    const at = this.rows.findIndex((row) => row.key === this.chosen);
    const row = this.rows[at];
    if (!row) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = this.rows[at + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) this.choose(next.path, false);
    } else if (event.key === "ArrowRight" && !this.expanded.has(row.key)) this.choose(row.path, true);
    else if (event.key === "ArrowLeft") {
      if (this.expanded.has(row.key)) this.choose(row.path, true);
      else if (row.path.length) this.choose(row.path.slice(0, -1), false);
    } else if (event.key === "Enter") this.choose(row.path, true);
    else return;
    event.preventDefault();
    const place = this.rows.findIndex((each) => each.key === this.chosen) * ROW;
    const { scrollTop, clientHeight } = this.grid;
    if (place < scrollTop) this.grid.scrollTop = place;
    else if (place + 2 * ROW > scrollTop + clientHeight) this.grid.scrollTop = place + 2 * ROW - clientHeight;
  }
}

function keyOf(path) {
  return path.join("\n");
}
