// The panel of the analysis, live while the search goes on: bars of visits, value and prior, the principal variation,
// heat and arrows on the board, the value over the whole game, and the mistakes of a reviewed game.

import { attempt } from "./app.js";
import { Curve } from "./curve.js";
import { html } from "./svg.js";

const MOST_ROWS = 10;
const BUDGETS = [
  ["infinite", "until stopped"],
  ["2s", "2 seconds"],
  ["10s", "10 seconds"],
  ["1min", "1 minute"],
];
const MISTAKE = 0.25;
const BLUNDER = 1;

export class AnalysisPanel {
  name = "analysis";
  title = "Analysis";

  constructor(page) {
    this.page = page;
    this.state = null;
    this.snapshot = null;
    this.isOn = false;
    this.showsAll = false;
    this.reviewed = new Map();
    this.build();
    page.addEventListener("snapshot", (event) => this.receive(event.detail));
    page.addEventListener("review", (event) => this.judge(event.detail));
    page.addEventListener("error", (event) => this.fail(event.detail));
    page.board.addEventListener("shown", () => this.paint());
  }

  build() {
    const restart = () => this.isOn && this.start();
    this.agent = html("select", { "aria-label": "Agent that analyses", onchange: restart });
    this.budget = html("select", { "aria-label": "Time for the analysis", onchange: restart }, ...BUDGETS.map(([value, name]) => html("option", { value }, name)));
    this.toggle = html("button", { type: "button", class: "toggle", "aria-pressed": "false", onclick: () => (this.isOn ? this.stop() : this.start()) }, "Analyse");
    this.onBoard = html("input", { type: "checkbox", checked: true, onchange: () => this.paint() });
    this.summary = html("p", { class: "analysis-summary", role: "status" });
    this.line = html("div", { class: "analysis-line", role: "group", "aria-label": "Principal variation" });
    this.bars = html("div", { class: "analysis-bars" });
    this.curve = new Curve((ply) => this.page.send({ type: "jump", ply }));
    this.reviewButton = html("button", { type: "button", onclick: () => this.review() }, "Review the game");
    this.mistakes = html("div", { class: "mistakes", role: "group", "aria-label": "Mistakes" });
    this.verdict = html("p", { class: "muted", role: "status" });
    this.element = html(
      "div",
      { class: "analysis" },
      html("h2", { class: "visually-hidden" }, "Analysis"),
      html("div", { class: "toolbar" }, this.agent, this.budget, this.toggle, html("label", { class: "check" }, this.onBoard, "on the board")),
      this.summary,
      this.line,
      this.bars,
      html("h3", {}, "Value over the game"),
      this.curve.element,
      html("div", { class: "toolbar" }, this.reviewButton, this.verdict),
      this.mistakes,
    );
  }

  // --- messages --------------------------------------------------------------------------------------------------

  show(state) {
    const before = this.state;
    this.state = state;
    if (!this.agent.childElementCount) this.listAgents();
    const moved = before === null || before.view.text !== state.view.text || before.ply !== state.ply;
    for (const ply of [...this.reviewed.keys()]) {
      if (ply > state.plies || before?.history[ply - 1]?.move !== state.history[ply - 1]?.move) this.reviewed.clear();
    }
    if (moved) {
      this.snapshot = null;
      this.toggle.disabled = state.waiting_for.length === 0;
      if (this.isOn) this.toggle.disabled ? this.stop() : this.start();
      this.drawSnapshot();
    }
    this.reviewButton.disabled = state.plies === 0 || this.isReviewing;
    this.drawCurve();
  }

  /** Agents that search: the trained player that comes with Ludus first, then those of the user's runs. */
  listAgents() {
    const { catalogue, state } = this.page;
    const runs = catalogue.runs.filter((run) => run.game === state.game && run.checkpoints.length);
    const names = [...(state.trained ? ["zero"] : []), "uct", ...runs.map((run) => `zero:${run.name}`), "solver"];
    this.agent.replaceChildren(...names.map((name) => html("option", { value: name }, name)));
  }

  receive(message) {
    if (this.state === null || message.ply !== this.state.ply || message.moves.length) return;
    this.snapshot = message.snapshot;
    this.drawSnapshot();
  }

  judge(message) {
    this.reviewed.set(message.ply, message);
    if (message.done) this.endReview();
    else this.verdict.textContent = `move ${message.ply + 1} of ${this.state.plies}`;
    this.drawCurve();
  }

  fail({ of: kind }) {
    if (kind === "review") this.endReview();
    if (kind === "analyse") this.setOn(false);
  }

  start() {
    this.setOn(true);
    this.snapshot = null;
    this.summary.textContent = "The search begins.";
    this.page.send({ type: "analyse", agent: this.agent.value, budget: this.budget.value });
  }

  stop() {
    this.setOn(false);
    this.page.send({ type: "stop_analysis" });
    this.paint();
  }

  setOn(isOn) {
    this.isOn = isOn;
    this.toggle.setAttribute("aria-pressed", String(isOn));
    this.toggle.textContent = isOn ? "Stop analysis" : "Analyse";
  }

  review() {
    this.isReviewing = true;
    this.reviewButton.disabled = true;
    this.reviewed.clear();
    this.verdict.textContent = "The review begins.";
    this.page.send({ type: "review" });
  }

  endReview() {
    this.isReviewing = false;
    this.reviewButton.disabled = false;
    const found = this.found().length;
    const exact = [...this.reviewed.values()].filter((each) => each.solved).length;
    this.verdict.textContent = `${found} ${found === 1 ? "mistake" : "mistakes"}; ${exact} of ${this.reviewed.size} positions exact`;
  }

  found() {
    return [...this.reviewed.values()].filter((each) => (each.loss ?? 0) >= MISTAKE).sort((a, b) => a.ply - b.ply);
  }

  // --- drawing ---------------------------------------------------------------------------------------------------

  drawSnapshot() {
    const { snapshot, state } = this;
    if (!snapshot) {
      this.summary.textContent = state && state.waiting_for.length === 0 ? "The game is over." : "";
      this.line.replaceChildren();
      this.bars.replaceChildren();
      this.paint();
      return;
    }
    const who = state.players[snapshot.player].name;
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
    const mine = this.state.moves.find((move) => move.move === line[0]);
    this.line.replaceChildren(
      ...line.slice(0, 12).map((move, i) => html("button", { type: "button", class: "chip", "aria-label": `Show the line up to ${move}`, onclick: () => this.look(line.slice(0, i + 1)) }, move)),
      ...(mine ? [html("button", { type: "button", class: "chip primary", onclick: () => this.page.send({ type: "play", move: mine.move, player: mine.player }) }, `Play ${line[0]}`)] : []),
    );
  }

  /** Show the position after some moves from the present one, until the person goes back or the game goes on. */
  look(moves) {
    attempt(async () => {
      const { view } = await this.page.ask({ type: "view", ply: this.state.ply, moves });
      this.page.look(view);
      this.page.say(`After ${moves.join(" ")}.`);
    });
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
        html("th", { scope: "row" }, html("button", { type: "button", class: "chip", "aria-label": `Show ${move.move}`, onclick: () => this.look([move.move]) }, `${move.move === block.best ? "\u2605 " : ""}${move.move}`)),
        html("td", {}, meter(share(move) / most, percent(share(move)), compact(move.visits ?? 0))),
        html("td", {}, move.value === null ? "" : balance(move.value, signed(move.value) + (move.length ? ` in ${move.length}` : ""))),
        ...(hasPriors ? [html("td", {}, meter((move.prior ?? 0) / most, percent(move.prior ?? 0), "", "prior"))] : []),
      ),
    );
    const caption = this.snapshot.blocks.length > 1 ? [html("caption", {}, this.state.players[block.player].name)] : [];
    const more = block.moves.length > MOST_ROWS ? [html("button", { type: "button", class: "chip", onclick: () => this.toggleAll() }, this.showsAll ? "Fewer moves" : `All ${block.moves.length} moves`)] : [];
    return html("div", {}, html("table", { class: hasPriors ? "with-network" : null }, ...caption, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...body)), ...more);
  }

  toggleAll() {
    this.showsAll = !this.showsAll;
    this.drawSnapshot();
  }

  /** Draw the moves on the board; `only` is the action of a single one. */
  paint(only = null) {
    const { snapshot, page } = this;
    const { board } = page.board;
    if (!snapshot || !this.isOn || !this.onBoard.checked || page.looking !== null || !board) {
      page.board.overlay([]);
      return;
    }
    const touches = new Map(board.moves.map((move) => [`${move.player} ${move.action}`, move]));
    const marks = snapshot.blocks.flatMap((block) => {
      const total = block.moves.reduce((sum, move) => sum + (move.visits ?? 0), 0) || 1;
      return block.moves.map(({ action, move, visits }) => {
        const share = (visits ?? 0) / total;
        return { move: touches.get(`${block.player} ${action}`), share, label: percent(share), best: move === block.best, anyOrder: board.any_order, action };
      });
    });
    page.board.overlay(marks.filter((mark) => mark.move && (only === null ? mark.share > 0.01 : mark.action === only)));
  }

  drawCurve() {
    const { state, reviewed } = this;
    const rivals = state.zero_sum && state.players.length === 2;
    const points = [];
    for (let ply = 0; ply <= state.plies; ply++) {
      const expected = state.history[ply - 1]?.values ?? {};
      let values = reviewed.get(ply)?.value ?? null;
      if (!values && Object.keys(expected).length) {
        values = state.players.map((_, player) => expected[player] ?? (rivals && expected[1 - player] !== undefined ? -expected[1 - player] : null));
      }
      if (ply === state.plies && state.result && state.ply === state.plies) values = state.result.values;
      if (values) points.push({ ply, values });
    }
    const found = this.found();
    this.curve.show({ points, plies: state.plies, ply: state.ply, names: state.players.map((each) => each.name), paints: state.view.board?.paints ?? [], single: rivals });
    this.curve.mistakes(found);
    this.mistakes.replaceChildren(
      ...found.map((each) =>
        html(
          "button",
          { type: "button", class: "chip", onclick: () => this.page.send({ type: "jump", ply: each.ply }) },
          `${each.ply + 1}. ${each.played}${each.loss >= BLUNDER ? "??" : "?"} loses ${each.loss.toFixed(2)}; best ${each.best}${each.solved ? " (exact)" : ""}`,
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
