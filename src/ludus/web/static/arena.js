// The arena: the table of ratings, the matrix of scores, recorded games to replay, and agents that join.

import { get, post } from "./api.js";
import { attempt, toast } from "./app.js";
import { short } from "./charts.js";
import { Dashboard } from "./dashboard.js";
import { agentChoices, gameOptions, SeatSelect } from "./seats.js";
import { field, html } from "./svg.js";

const EVERY = 3000;

export class ArenaPage extends Dashboard {
  title = "Arena";

  constructor() {
    super(EVERY);
    this.file = null;
    this.identity = null;
    this.agents = ["uct:100", "uct:1000"];
    this.form = html("form", { class: "panel", onsubmit: (event) => this.start(event) });
    this.status = html("p", { role: "status" });
    this.pick = html("div", { class: "inline" });
    this.table = html("section", { class: "panel", "aria-labelledby": "ratings" });
    this.matrix = html("section", { class: "panel", "aria-labelledby": "matrix" });
    this.games = html("section", { class: "panel recorded", "aria-labelledby": "recorded" });
    this.element = html("div", { class: "dashboard" }, html("h1", { class: "visually-hidden" }, "Arena"), html("div", { class: "column" }, this.form, this.games), html("div", { class: "column" }, this.pick, this.table, this.matrix));
  }

  // --- starting --------------------------------------------------------------------------------------------------

  build() {
    this.game = html("select", { onchange: () => this.choose() }, ...gameOptions(this.catalogue.games));
    this.game.value = "tictactoe";
    this.minutes = html("input", { type: "number", min: "0.1", step: "any", value: "5" });
    this.chips = html("ul", { class: "chips", "aria-label": "Agents" });
    this.adder = html("div", { class: "inline" });
    this.startButton = html("button", { type: "submit", class: "primary" }, "Start");
    this.stopButton = html("button", { type: "button", onclick: () => attempt(async () => { await post("/api/arena/stop"); await this.refresh(); }) }, "Stop");
    this.form.replaceChildren(html("h2", {}, "Let agents play each other"), field("Game", this.game), this.chips, this.adder, field("Minutes", this.minutes), html("div", { class: "inline" }, this.startButton, this.stopButton), this.status);
    this.choose();
  }

  choose() {
    const select = new SeatSelect("Agent", agentChoices(this.catalogue, this.game.value, this.catalogue.games.find((game) => game.key === this.game.value).trained), "uct:1000", { people: false });
    this.adder.replaceChildren(select.element, html("button", { type: "button", onclick: () => this.add(select.value) }, "Add"));
    this.showChips();
  }

  showChips() {
    this.chips.replaceChildren(
      ...this.agents.map((agent) => html("li", {}, agent, this.isRunning ? null : html("button", { type: "button", class: "icon", "aria-label": `Remove ${agent}`, onclick: () => { this.agents = this.agents.filter((other) => other !== agent); this.showChips(); } }, "×"))),
    );
  }

  async add(agent) {
    if (!agent || this.agents.includes(agent)) return;
    await attempt(async () => {
      if (this.isRunning) {
        await post("/api/arena/agents", { agents: [agent] });
        toast(`${agent} joins the arena.`, "news");
      }
      this.agents.push(agent);
      this.showChips();
      await this.refresh();
    });
  }

  async start(event) {
    event.preventDefault();
    await attempt(async () => {
      await post("/api/arena/start", { game: this.game.value, agents: this.agents, minutes: Number(this.minutes.value) });
      this.file = "main";
      await this.refresh();
    });
  }

  // --- showing ---------------------------------------------------------------------------------------------------

  async refresh() {
    try {
      const { arena, files } = await get("/api/arena");
      if (this.isGone) return;
      this.showArena(arena);
      if (!files.includes(this.file)) this.file = files[0] ?? null;
      this.showFiles(files);
      if (this.file === null) {
        this.table.replaceChildren(html("h2", { id: "ratings" }, "Ratings"), html("p", { class: "muted" }, "No results yet: let agents play each other."));
        this.matrix.hidden = this.games.hidden = true;
        return;
      }
      const query = `file=${encodeURIComponent(this.file)}`;
      const ratings = await get(`/api/arena/ratings?${query}${this.identity ? `&game=${encodeURIComponent(this.identity)}` : ""}`);
      const { games } = await get(`/api/arena/games?${query}`);
      if (!this.isGone) this.showResults(ratings, games);
    } catch (error) {
      if (!this.isGone) this.table.replaceChildren(html("h2", { id: "ratings" }, "Ratings"), html("p", { class: "muted" }, error.message));
    }
  }

  showArena(arena) {
    const before = this.isRunning;
    this.isRunning = arena.running;
    if (arena.running) this.agents = arena.agents;
    this.startButton.hidden = arena.running;
    this.stopButton.hidden = !arena.running;
    this.game.disabled = arena.running;
    this.status.textContent = arena.running ? `Playing. ${arena.lines.at(-1) ?? ""}` : arena.failure;
    if (before !== this.isRunning) this.showChips();
  }

  showFiles(files) {
    const key = files.join("\n");
    if (this.shownFiles === key) return;
    this.shownFiles = key;
    const select = html("select", { "aria-label": "File of results", onchange: () => { this.file = select.value; this.identity = null; this.shown = null; this.refresh(); } }, ...files.map((file) => html("option", { value: file }, file === "main" ? "All results" : `Run ${file}`)));
    select.value = this.file ?? "";
    this.pick.hidden = files.length < 2;
    this.pick.replaceChildren(select);
  }

  showResults(ratings, games) {
    const key = JSON.stringify([this.file, ratings.game, ratings.games, games[0]?.number]);
    if (key === this.shown) return;
    this.shown = key;
    const focused = document.activeElement?.dataset?.focus;
    this.showTable(ratings);
    this.showMatrix(ratings);
    this.showGames(games);
    if (focused) this.element.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  }

  showTable(ratings) {
    const interval = (row) => (row.low === null || row.high === null ? "unbounded" : `${short(row.low)} to ${short(row.high)}`);
    const rows = ratings.rows.map((row) =>
      html("tr", {}, html("td", {}, String(row.place)), html("th", { scope: "row" }, row.label + (row.is_anchor ? " (anchor)" : "")), html("td", {}, short(Math.round(row.rating)) + (row.connected ? "" : " ?")), html("td", {}, interval(row)), html("td", {}, `${(100 * row.score).toFixed(0)} %`), html("td", {}, short(row.games))),
    );
    const choice = html("select", { "aria-label": "Game", "data-focus": "game", onchange: (event) => { this.identity = event.target.value; this.shown = null; this.refresh(); } }, ...ratings.played.map((each) => html("option", { value: each.identity }, `${each.identity}: ${each.games} games`)));
    choice.value = ratings.game;
    this.table.replaceChildren(
      html("h2", { id: "ratings" }, "Ratings"),
      ratings.played.length > 1 ? choice : html("p", { class: "muted" }, ratings.game),
      html("p", { class: "muted" }, `${ratings.games} games${ratings.anchored ? "" : "; without the anchor, ratings are relative to the mean"}`),
      html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of ratings" }, html("table", { class: "ratings" }, html("thead", {}, html("tr", {}, ...["Place", "Agent", "Rating", "95 % interval", "Score", "Games"].map((name) => html("th", { scope: "col" }, name)))), html("tbody", {}, ...rows))),
    );
  }

  showMatrix(ratings) {
    const { rows, matrix } = ratings;
    this.matrix.hidden = rows.length < 2;
    const head = html("tr", {}, html("td"), ...rows.map((row) => html("th", { scope: "col", class: "tilted" }, html("span", {}, row.label))));
    const body = rows.map((row, i) =>
      html(
        "tr",
        {},
        html("th", { scope: "row" }, row.label),
        ...rows.map((other, j) => {
          const score = matrix.scores[i][j];
          const cell = html("td", { title: score === null ? null : `${row.label} against ${other.label}: ${matrix.games[i][j]} games` }, score === null ? "" : (100 * score).toFixed(0));
          if (score !== null) {
            cell.classList.add(score >= 0.5 ? "won" : "lost");
            cell.style.setProperty("--strength", String(Math.abs(score - 0.5) * 2));
          }
          return cell;
        }),
      ),
    );
    this.matrix.replaceChildren(html("h2", { id: "matrix" }, "Scores"), html("p", { class: "muted" }, "Points of the row against the column, in percent."), html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matrix of scores" }, html("table", { class: "matrix" }, html("thead", {}, head), html("tbody", {}, ...body))));
  }

  showGames(games) {
    this.games.hidden = games.length === 0;
    const rows = games.slice(0, 40).map((game) =>
      html("li", {}, html("span", {}, `${game.number}. ${game.agents.join(" – ")}`), html("span", { class: "muted" }, `${game.results.map((result) => short(result)).join(" : ")}, ${game.plies} moves${game.reason ? `, ${game.reason}` : ""}`), html("button", { type: "button", "data-focus": `replay ${game.number}`, "aria-label": `Replay game ${game.number}`, onclick: () => this.replay(game.number) }, "Replay")),
    );
    this.games.replaceChildren(html("h2", { id: "recorded" }, "Recorded games"), html("ul", { class: "rows" }, ...rows));
  }

  async replay(number) {
    await attempt(async () => {
      const { id } = await post(`/api/arena/games/${number}/open?file=${encodeURIComponent(this.file)}`);
      location.hash = `#/game/${id}`;
    });
  }
}
