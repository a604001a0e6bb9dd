// The analysis of a position, live while the search goes on: bars of visits, value and prior, the principal variation,
// heat and arrows on the board, the value over the whole game, and the mistakes of a reviewed game.
//
//     const panel = new AnalysisPanel(element, { send, board, preview });
//     panel.agents([{name, title}])      the agents to choose from
//     panel.state(state)                 after each message `state`
//     panel.message(message)             for `snapshot` and `review`
//
// `preview(moves)` asks for the view of the position after some moves from the present one: a promise.

import { Curve } from "./curve.js";
import { html } from "./svg.js";

const MOST_ROWS = 10;
const BUDGETS = [["2s", "2 seconds"], ["10s", "10 seconds"], ["1min", "1 minute"], ["infinite", "until stopped"]];
const MISTAKE = 0.25;

export class AnalysisPanel {
  constructor(element, { send, board, preview }) {
    Object.assign(this, { element, send, board, preview });
    this.current = null;
    this.snapshot = null;
    this.isOn = false;
    this.showsAll = false;
    this.reviewed = new Map();
    this.build();
  }

  build() {
    this.agent = html("select", { "aria-label": "Agent that analyses", onchange: () => this.isOn && this.start() }, html("option", { value: "uct" }, "uct"));
    this.budget = html("select", { "aria-label": "Time for the analysis", onchange: () => this.isOn && this.start() }, ...BUDGETS.map(([value, name]) => html("option", { value }, name)));
    this.toggle = html("button", { type: "button", class: "toggle", "aria-pressed": "false", onclick: () => (this.isOn ? this.stop() : this.start()) }, "Analyse");
    this.onBoard = html("input", { type: "checkbox", checked: true, id: "analysis-on-board", onchange: () => this.paint() });
    this.summary = html("p", { class: "analysis-summary", role: "status" });
    this.line = html("div", { class: "analysis-line", role: "group", "aria-label": "Principal variation" });
    this.banner = html("p", { class: "analysis-preview", hidden: true });
    this.bars = html("div", { class: "analysis-bars" });
    this.curve = new Curve((ply) => this.send({ type: "jump", ply }));
    this.reviewButton = html("button", { type: "button", onclick: () => this.review() }, "Review the game");
    this.mistakes = html("div", { class: "mistakes", role: "group", "aria-label": "Mistakes" });
    this.element.classList.add("analysis");
    this.element.replaceChildren(
      html("div", { class: "toolbar" }, this.agent, this.budget, this.toggle, html("label", { class: "check", for: "analysis-on-board" }, this.onBoard, "on the board")),
      this.summary,
      this.line,
      this.banner,
      this.bars,
      html("h3", {}, "Value over the game"),
      this.curve.element,
      html("div", { class: "toolbar" }, this.reviewButton),
      this.mistakes,
    );
  }

  agents(list) {
    const chosen = this.agent.value;
    this.agent.replaceChildren(...list.map(({ name, title }) => html("option", { value: name }, title ?? name)));
    if (list.some(({ name }) => name === chosen)) this.agent.value = chosen;
  }

  // --- messages --------------------------------------------------------------------------------------------------

  state(state) {
    const before = this.current;
    this.current = state;
    if (before && before.id !== state.id) this.reviewed.clear();
    const moved = !before || before.id !== state.id || before.view.text !== state.view.text;
    for (const ply of [...this.reviewed.keys()]) {
      if (ply > state.plies || (before && before.history[ply - 1]?.move !== state.history[ply - 1]?.move)) this.reviewed.delete(ply);
    }
    if (moved) {
      this.leavePreview(false);
      this.snapshot = null;
      this.toggle.disabled = state.waiting_for.length === 0;
      if (this.isOn && state.waiting_for.length) this.start();
      else if (this.isOn) this.stop();
      this.drawSnapshot();
    }
    this.reviewButton.disabled = state.plies === 0;
    this.drawCurve();
  }

  message(message) {
    if (message.type === "snapshot") {
      if (!this.current || message.ply !== this.current.ply || message.moves?.length) return;
      this.snapshot = message.snapshot;
      this.drawSnapshot();
    } else if (message.type === "review") {
      if (typeof message.ply === "number") this.reviewed.set(message.ply, message);
      if (message.done) this.reviewButton.textContent = "Review the game";
      this.reviewButton.disabled = false;
      this.drawCurve();
    }
  }

  start() {
    this.setOn(true);
    this.snapshot = null;
    this.send({ type: "analyse", agent: this.agent.value, budget: this.budget.value });
    this.summary.textContent = "The search begins.";
  }

  stop() {
    this.setOn(false);
    this.send({ type: "stop_analysis" });
    this.paint();
  }

  setOn(isOn) {
    this.isOn = isOn;
    this.toggle.setAttribute("aria-pressed", String(isOn));
    this.toggle.textContent = isOn ? "Stop analysis" : "Analyse";
  }

  review() {
    this.reviewButton.disabled = true;
    this.reviewButton.textContent = "Reviewing\u2026";
    this.reviewed.clear();
    this.send({ type: "review", agent: this.agent.value });
  }

  // --- drawing ---------------------------------------------------------------------------------------------------

  drawSnapshot() {
    const { snapshot, current } = this;
    if (!snapshot) {
      this.summary.textContent = current && current.waiting_for.length === 0 ? "The game is over." : "";
      this.line.replaceChildren();
      this.bars.replaceChildren();
      this.paint();
      return;
    }
    const who = current.players[snapshot.player].name;
    const rate = snapshot.seconds > 0.05 ? `, ${compact(snapshot.simulations / snapshot.seconds)} a second` : "";
    const ended = { solved: "solved", full: "memory is full", stopped: "stopped", budget: "done" }[snapshot.ended] ?? "searching";
    this.summary.textContent = `${who}: ${signed(snapshot.value)}${snapshot.solved ? " (exact)" : ""} \u00b7 ${compact(snapshot.simulations)} simulations${rate} \u00b7 ${ended}`;
    this.drawLine();
    this.bars.replaceChildren(...snapshot.blocks.map((block) => this.drawBlock(block)));
    this.paint();
  }

  drawLine() {
    const { line } = this.snapshot;
    const key = line.join("\n");
    if (this.shownLine === key && this.line.childElementCount) return;
    this.shownLine = key;
    this.line.replaceChildren(
      ...line.slice(0, 12).map((move, i) => html("button", { type: "button", class: "chip", "aria-label": `Show the line up to ${move}`, onclick: () => this.showLine(line.slice(0, i + 1)) }, move)),
    );
    const mine = this.current.moves.find((move) => move.move === line[0]);
    if (mine) this.line.append(html("button", { type: "button", class: "chip primary", onclick: () => this.send({ type: "play", action: mine.action, player: mine.player }) }, `Play ${line[0]}`));
  }

  /** Show the position after some moves of the line, until the person goes back or the game goes on. */
  async showLine(moves) {
    const view = await this.preview(moves);
    this.isPreview = true;
    this.board.show(view.board, { moves: [] });
    this.banner.hidden = false;
    this.banner.replaceChildren(`After ${moves.join(" ")}. `, html("button", { type: "button", class: "chip", onclick: () => this.leavePreview(true) }, "Back to the game"));
  }

  leavePreview(redraw) {
    this.banner.hidden = true;
    if (!this.isPreview) return;
    this.isPreview = false;
    if (redraw) {
      this.board.show(this.current.view.board, { moves: this.current.moves });
      this.paint();
    }
  }

  drawBlock(block) {
    const total = block.moves.reduce((sum, move) => sum + (move.visits ?? 0), 0);
    const share = (move) => (total ? (move.visits ?? 0) / total : (move.policy ?? 0));
    const sorted = [...block.moves].sort((a, b) => share(b) - share(a) || (b.prior ?? 0) - (a.prior ?? 0));
    const rows = this.showsAll ? sorted : sorted.slice(0, MOST_ROWS);
    const hasPriors = block.moves.some((move) => move.prior !== null);
    const most = Math.max(...block.moves.map((move) => Math.max(share(move), move.prior ?? 0)), 0.01);
    const head = ["Move", "Visits", "Value", ...(hasPriors ? ["Network"] : [])].map((name) => html("th", { scope: "col" }, name));
    const body = rows.map((move) =>
      html(
        "tr",
        { class: move.move === block.best ? "best" : "", onpointerenter: () => this.paint(move.action), onpointerleave: () => this.paint() },
        html("th", { scope: "row" }, html("button", { type: "button", class: "chip", "aria-label": `Show ${move.move}`, onclick: () => this.showLine([move.move]) }, `${move.move === block.best ? "\u2605 " : ""}${move.move}`)),
        html("td", {}, meter(share(move) / most, percent(share(move)), compact(move.visits ?? 0))),
        html("td", {}, move.value === null ? "" : balance(move.value, signed(move.value) + (move.length ? ` in ${move.length}` : ""))),
        ...(hasPriors ? [html("td", {}, meter((move.prior ?? 0) / most, percent(move.prior ?? 0), "", "prior"))] : []),
      ),
    );
    const caption = this.snapshot.blocks.length > 1 ? [html("caption", {}, this.current.players[block.player].name)] : [];
    const more = block.moves.length > MOST_ROWS ? [html("button", { type: "button", class: "chip", onclick: () => this.toggleAll() }, this.showsAll ? "Fewer moves" : `All ${block.moves.length} moves`)] : [];
    return html("div", {}, html("table", {}, ...caption, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body)), ...more);
  }

  toggleAll() {
    this.showsAll = !this.showsAll;
    this.drawSnapshot();
  }

  /** Draw the moves on the board; `only` is the action of a single one. */
  paint(only = null) {
    if (this.isPreview || !this.board.board) return;
    const { snapshot, current } = this;
    if (!snapshot || !this.onBoard.checked || !this.isOn) {
      this.board.overlay([]);
      return;
    }
    const touches = new Map(current.view.board.moves.map((move) => [`${move.player} ${move.action}`, move]));
    const marks = snapshot.blocks.flatMap((block) => {
      const total = block.moves.reduce((sum, move) => sum + (move.visits ?? 0), 0) || 1;
      return block.moves
        .map((move) => ({ move: touches.get(`${block.player} ${move.action}`), share: (move.visits ?? 0) / total, label: percent((move.visits ?? 0) / total), best: move.move === block.best, anyOrder: current.view.board.any_order, action: move.action }))
        .filter((mark) => mark.move && (only === null ? mark.share > 0.01 : mark.action === only));
    });
    this.board.overlay(marks);
  }

  drawCurve() {
    const { current, reviewed } = this;
    const points = [];
    for (let ply = 0; ply <= current.plies; ply++) {
      const review = reviewed.get(ply);
      const past = current.history[ply - 1];
      let values = review?.value ?? null;
      if (!values && past && Object.keys(past.values).length) {
        values = current.players.map((_, player) => past.values[player] ?? (current.zero_sum && current.players.length === 2 ? -(past.values[1 - player] ?? NaN) : NaN));
      }
      if (ply === current.plies && current.result) values = current.result.values;
      if (values) points.push({ ply, values, review });
    }
    this.curve.show({ points, plies: current.plies, ply: current.ply, names: current.players.map((each) => each.name), paints: current.view.board?.paints ?? [], single: current.zero_sum && current.players.length === 2 });
    const found = [...reviewed.values()].filter((each) => (each.loss ?? 0) >= MISTAKE).sort((a, b) => a.ply - b.ply);
    this.curve.mistakes(found);
    this.mistakes.replaceChildren(
      ...found.map((each) =>
        html(
          "button",
          { type: "button", class: "chip", onclick: () => this.send({ type: "jump", ply: each.ply }) },
          `${each.ply + 1}. ${each.played}${each.loss >= 1 ? "??" : "?"} loses ${each.loss.toFixed(2)}; best ${each.best}${each.solved ? " (exact)" : ""}`,
        ),
      ),
    );
  }
}

function meter(fraction, label, detail = "", kind = "") {
  const bar = html("span", { class: `bar ${kind}` });
  bar.style.setProperty("--part", String(Math.max(0, Math.min(1, fraction))));
  return html("span", { class: "meter" }, bar, html("span", { class: "figure" }, label), ...(detail ? [html("span", { class: "muted" }, detail)] : []));
}

/** A bar from the middle: to the right for a good value, to the left for a bad one. */
function balance(value, label) {
  const bar = html("span", { class: `balance ${value < 0 ? "minus" : "plus"}` });
  bar.style.setProperty("--part", String(Math.abs(value) / 2));
  return html("span", { class: "meter" }, bar, html("span", { class: "figure" }, label));
}

export function compact(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(number >= 1e7 ? 0 : 1)} M`;
  if (number >= 1e4) return `${Math.round(number / 1e3)} k`;
  return String(Math.round(number));
}

export function percent(fraction) {
  return `${(100 * fraction).toFixed(fraction < 0.0995 && fraction > 0 ? 1 : 0)}%`;
}

export function signed(value) {
  return value === null || value === undefined || Number.isNaN(value) ? "unknown" : `${value > 0 ? "+" : ""}${value.toFixed(2)}`.replace("-", "\u2212");
}
