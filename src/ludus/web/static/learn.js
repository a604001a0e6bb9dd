// Trainings: start one, watch its figures, compare several, stop and resume them, and watch games of self-play.

import { get, post } from "./api.js";
import { attempt, toast } from "./app.js";
import { lineChart, short } from "./charts.js";
import { Dashboard } from "./dashboard.js";
import { gameOptions } from "./seats.js";
import { field, html } from "./svg.js";

const EVERY = 2000;
const CHARTS = [
  ["Rating above the untrained network (Elo)", (line) => ({ y: line.rating, low: line.rating_low, high: line.rating_high }), {}],
  ["Policy loss", (line) => ({ y: line.policy }), {}],
  ["Value loss", (line) => ({ y: line.value }), {}],
  ["Games a second", (line, before) => ({ y: (line.games - (before?.games ?? 0)) / Math.max(1e-6, line.seconds - (before?.seconds ?? 0)) }), { zero: true }],
  ["Plies in a game", (line) => ({ y: line.plies }), { zero: true }],
  ["Outcomes kept on solved positions", (line) => ({ y: line.graded === null || line.graded === undefined ? NaN : 100 * line.graded }), { unit: " %" }],
];

/** Seconds as 1:02:03 or 2:03. */
function duration(seconds) {
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, place) => (place ? String(part).padStart(2, "0") : String(part))).join(":");
}

export class LearnPage extends Dashboard {
  title = "Learn";

  constructor([name]) {
    super(EVERY);
    this.logs = new Map();
    this.chosen = new Set(name ? [name] : []);
    this.form = html("form", { class: "panel", onsubmit: (event) => this.start(event) });
    this.list = html("section", { class: "panel", "aria-labelledby": "runs" });
    this.details = html("section", { "aria-label": "Figures" });
    this.games = html("section", { class: "panel", hidden: true, "aria-labelledby": "watched" });
    this.element = html("div", { class: "dashboard" }, html("h1", { class: "visually-hidden" }, "Learn"), html("div", { class: "column" }, this.list, this.form), html("div", { class: "column" }, this.details, this.games));
  }

  build() {
    this.game = html("select", { onchange: () => this.choose() }, ...gameOptions(this.catalogue.games));
    this.game.value = "connect4";
    this.name = html("input", { required: true, pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,79}", autocomplete: "off" });
    this.minutes = html("input", { type: "number", min: "0.1", step: "any", value: "10" });
    this.options = html("div", { class: "fields options" });
    this.settings = html("textarea", { rows: "3", spellcheck: "false", placeholder: "blocks=4\nsimulations=32" });
    this.form.replaceChildren(
      html("h2", {}, "New training"),
      field("Game", this.game),
      this.options,
      field("Name of the run", this.name),
      field("Minutes", this.minutes),
      html("details", {}, html("summary", {}, "Settings"), field("One on each line", this.settings, "ludus train --settings lists them")),
      html("button", { type: "submit", class: "primary" }, "Start training"),
    );
    this.choose();
  }

  choose() {
    const game = this.catalogue.games.find((each) => each.key === this.game.value);
    const now = new Date();
    const stamp = [now.getMonth() + 1, now.getDate(), now.getHours(), now.getMinutes()].map((part) => String(part).padStart(2, "0")).join("");
    this.name.value = `${game.key.replace(/[^A-Za-z0-9]+/g, "-")}-${stamp}`;
    this.inputs = new Map(game.options.filter((option) => option.kind !== "NoneType").map((option) => [option, option.kind === "bool" ? html("input", { type: "checkbox", checked: option.default }) : html("input", { value: option.default })]));
    this.options.replaceChildren(...[...this.inputs].map(([option, input]) => html("label", { class: "field" }, html("span", {}, option.name.replaceAll("_", " ")), input)));
  }

  async start(event) {
    event.preventDefault();
    const options = {};
    for (const [option, input] of this.inputs) {
      const value = option.kind === "bool" ? input.checked : option.kind === "int" || option.kind === "float" ? Number(input.value) : input.value;
      if (value !== option.default) options[option.name] = value;
    }
    const settings = Object.fromEntries(this.settings.value.split("\n").map((line) => line.split("=").map((part) => part.trim())).filter(([key, value]) => key && value));
    await attempt(async () => {
      await post("/api/runs", { name: this.name.value, game: this.game.value, options, minutes: Number(this.minutes.value), settings });
      this.chosen.add(this.name.value);
      toast(`${this.name.value} has begun: it measures this machine first.`, "news");
      await this.refresh();
    });
  }

  // --- runs ------------------------------------------------------------------------------------------------------

  async refresh() {
    try {
      const { runs } = await get("/api/runs");
      if (this.isGone) return;
      if (!this.chosen.size && runs.length) this.chosen.add(runs[0].name);
      this.runs = runs;
      this.showRuns();
      await Promise.all([...this.chosen].filter((name) => runs.some((run) => run.name === name)).map((name) => this.load(name)));
      if (!this.isGone) this.showFigures();
    } catch (error) {
      this.details.replaceChildren(html("p", { class: "panel warning" }, error.message));
    }
  }

  showRuns() {
    const focused = document.activeElement?.dataset?.focus;
    const rows = this.runs.map((run) => {
      const last = run.last;
      const state = run.stopping ? "stopping" : run.training ? "training" : run.job?.failure ? "failed" : "stopped";
      const told = last ? `iteration ${last.iteration}, ${short(last.games)} games, ${duration(last.seconds)}` : run.training ? (run.job?.lines.at(-1) ?? "preparing") : "nothing yet";
      const act = run.training ? ["Stop", () => post(`/api/runs/${run.name}/stop`)] : ["Resume", () => post(`/api/runs/${run.name}/resume`, { minutes: Number(this.minutes.value) || 10 })];
      return html(
        "li",
        {},
        html("label", { class: "check" }, html("input", { type: "checkbox", checked: this.chosen.has(run.name), "data-focus": `show ${run.name}`, onchange: (event) => this.toggle(run.name, event.target.checked) }), html("strong", {}, run.name)),
        html("span", { class: `state ${state}` }, state),
        html("span", { class: "muted" }, `${run.title ?? ""} ${told}`),
        run.elsewhere ? html("span", { class: "muted" }, run.stopping ? "asked to stop; it ends after its present moves" : "trained by another process; Stop asks it to end") : null,
        run.job?.failure ? html("span", { class: "warning" }, run.job.failure) : null,
        html(
          "div",
          { class: "inline" },
          html("button", { type: "button", "data-focus": `act ${run.name}`, disabled: run.stopping, "aria-label": `${act[0]} ${run.name}`, onclick: () => attempt(async () => { await act[1](); await this.refresh(); }) }, act[0]),
          run.checkpoints.length && run.game ? html("button", { type: "button", "data-focus": `play ${run.name}`, "aria-label": `Play against ${run.name}`, onclick: () => this.playAgainst(run) }, "Play") : null,
        ),
      );
    });
    this.list.replaceChildren(html("h2", { id: "runs" }, "Runs"), rows.length ? html("ul", { class: "rows" }, ...rows) : html("p", { class: "muted" }, "No runs yet."));
    if (focused) this.list.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }

  toggle(name, isShown) {
    if (isShown) this.chosen.add(name);
    else this.chosen.delete(name);
    this.refresh();
  }

  async playAgainst(run) {
    await attempt(async () => {
      const players = this.catalogue.games.find((game) => game.key === run.game).players;
      const seats = Array.from({ length: players }, (_, player) => (player === 0 ? "human" : `zero:${run.name}`));
      const { id } = await post("/api/games", { game: run.game, options: run.options, seats });
      location.hash = `#/game/${id}`;
    });
  }

  async load(name) {
    const known = this.logs.get(name) ?? { log: [] };
    const after = known.log.at(-1)?.iteration ?? 0;
    const fresh = await get(`/api/runs/${encodeURIComponent(name)}?after=${after}`);
    const last = this.runs.find((run) => run.name === name)?.last?.iteration ?? 0;
    const kept = last < after ? [] : known.log; // a resumed run may have gone back
    this.logs.set(name, { ...fresh, log: [...kept, ...fresh.log] });
    const { games } = await get(`/api/runs/${encodeURIComponent(name)}/games`).catch(() => ({ games: [] }));
    this.logs.get(name).games = games;
  }

  // --- figures ---------------------------------------------------------------------------------------------------

  showFigures() {
    const shown = [...this.chosen].filter((name) => this.logs.has(name));
    const key = JSON.stringify(shown.map((name) => [name, this.logs.get(name).log.length, this.logs.get(name).ratings?.length, this.logs.get(name).games?.length]));
    if (key === this.shownKey) return;
    this.shownKey = key;
    const charts = CHARTS.map(([title, read, options]) =>
      lineChart(title, shown.map((name) => ({ name, points: this.logs.get(name).log.map((line, i, all) => ({ x: line.seconds / 60, ...read(line, all[i - 1]) })) })), { xTitle: "minutes", ...options }),
    );
    const rated = shown.filter((name) => this.logs.get(name).ratings?.length);
    if (rated.length) {
      charts.splice(1, 0, lineChart("Rating in the arena (Elo), 95 % interval", rated.map((name) => ({ name, points: this.logs.get(name).ratings.map((point) => ({ x: point.iteration ?? point.checkpoint, y: point.rating, low: point.low, high: point.high })) })), { xTitle: "iteration" }));
    }
    for (const name of shown) charts.push(this.outcomes(name));
    this.details.replaceChildren(html("div", { class: "charts" }, ...charts));
    this.showGames(shown);
  }

  /** Wins of each seat, and draws, in percent of the games of each iteration. */
  outcomes(name) {
    const { log } = this.logs.get(name);
    const lines = log.filter((line) => line.wins?.length);
    const seats = lines.at(-1)?.wins.length ?? 0;
    const of = (line, count) => (100 * count) / Math.max(1, line.games - (log[log.indexOf(line) - 1]?.games ?? 0));
    const series = Array.from({ length: seats }, (_, seat) => ({ name: `seat ${seat + 1} wins`, points: lines.map((line) => ({ x: line.seconds / 60, y: of(line, line.wins[seat]) })) }));
    if (seats) series.push({ name: "draws", points: lines.map((line) => ({ x: line.seconds / 60, y: of(line, line.draws) })) });
    return lineChart(`Outcomes by seat: ${name}`, series, { xTitle: "minutes", unit: " %", zero: true });
  }

  showGames(shown) {
    const rows = shown.flatMap((name) => {
      const { games, game, options } = this.logs.get(name);
      return (games ?? []).slice(0, 8).map((each) =>
        html("li", {}, html("span", {}, `${name}, iteration ${each.iteration}`), html("span", { class: "muted" }, `${each.moves.length} moves, results ${each.results.map((result) => short(result)).join(" : ")}`), html("button", { type: "button", "aria-label": `Watch the game of ${name}, iteration ${each.iteration}`, onclick: () => this.watch(game, options, each) }, "Watch")),
      );
    });
    this.games.hidden = rows.length === 0;
    this.games.replaceChildren(html("h2", { id: "watched" }, "Games of self-play"), html("ul", { class: "rows" }, ...rows));
  }

  async watch(game, options, { start, moves }) {
    await attempt(async () => {
      const { id } = await post("/api/games", { game, options, position: start, moves });
      location.hash = `#/game/${id}`;
    });
  }
}
