// Where games begin: choose a game, its options and who plays; or go on with a game, a file or a pasted position.

import { get, getCatalogue, post, remove, upload } from "./api.js";
import { attempt, toast } from "./app.js";
import { agentChoices, gameOptions, opponent, SeatSelect } from "./seats.js";
import { SetUp } from "./setup.js";
import { field, html } from "./svg.js";

const CLOCKS = [
  ["", "No clock"],
  ["1min+1s", "1 minute + 1 second a move"],
  ["5min+2s", "5 minutes + 2 seconds a move"],
  ["15min+10s", "15 minutes + 10 seconds a move"],
];

class Lobby {
  constructor() {
    this.element = html("div", { class: "lobby" });
    this.form = html("form", { class: "panel", onsubmit: (event) => this.start(event) });
    this.list = html("section", { class: "panel", "aria-labelledby": "your-games" });
    this.element.append(html("h1", { class: "visually-hidden" }, this.title), this.form, this.list);
  }

  async enter() {
    this.catalogue = await getCatalogue(true);
    this.build();
    await this.showGames();
  }

  build() {
    this.game = html("select", { name: "game", onchange: () => this.choose() }, ...gameOptions(this.catalogue.games));
    const last = localStorage.getItem("ludus-game");
    this.game.value = this.catalogue.games.some((game) => game.key === last) ? last : "connect4";
    this.about = html("p", { class: "muted" });
    this.progress = html("p", { class: "muted", role: "status" });
    this.options = html("div", { class: "fields options" });
    this.seats = html("div", { class: "fields" });
    this.position = html("input", { name: "position", placeholder: "the initial position", autocomplete: "off", spellcheck: "false" });
    this.clock = html("select", { name: "clock" }, ...CLOCKS.map(([value, label]) => html("option", { value }, label)));
    this.seed = html("input", { name: "seed", type: "number", min: "0", step: "1", value: "0" });
    this.picture = field("Sevn: a picture of the position", html("input", { type: "file", accept: "image/png,image/jpeg,image/webp", onchange: (event) => this.readPicture(event.target) }));
    this.form.replaceChildren(
      html("h2", {}, this.heading),
      field("Game", this.game),
      this.about,
      this.options,
      this.seats,
      html(
        "details",
        {},
        html("summary", {}, "Clock, position and more"),
        html(
          "div",
          { class: "fields" },
          ...(this.hasSeats ? [field("Clock", this.clock)] : []),
          field("Start from this position", this.position, "the text of a position, as a game shows it"),
          html("button", { type: "button", onclick: () => this.setUp() }, "Set up by hand"),
          field("Seed", this.seed, "random set-ups and agents repeat with the same seed"),
          this.picture,
          field("Load a game", html("input", { type: "file", accept: ".json,application/json", onchange: (event) => this.loadGame(event.target) }), "a file that was downloaded here"),
          field("Add a game by its rules", html("input", { type: "file", accept: ".kif,.gdl,.txt", onchange: (event) => this.loadRules(event.target) }), "a rule sheet in GDL; it is data and never run"),
        ),
      ),
      html("button", { type: "submit", class: "primary" }, this.action),
      this.progress,
    );
    this.choose();
  }

  get chosen() {
    return this.catalogue.games.find((game) => game.key === this.game.value);
  }

  choose() {
    const game = this.chosen;
    this.closeSetUp();
    this.about.textContent = game.about;
    this.picture.hidden = game.key !== "sevn";
    this.inputs = new Map();
    this.options.replaceChildren(
      ...game.options.map((option) => {
        const input =
          option.kind === "bool"
            ? html("input", { type: "checkbox", checked: option.default })
            : html("input", { type: option.kind === "int" || option.kind === "float" ? "number" : "text", step: option.kind === "float" ? "any" : null, value: option.default ?? "" });
        input.addEventListener("change", () => this.optionsChanged());
        this.inputs.set(option, input);
        return field(option.name.replaceAll("_", " "), input);
      }),
    );
    this.selects = [];
    this.offerSeats(game.trained);
  }

  /** Offer the agents for each seat; who was chosen before stays, if they can play. */
  offerSeats(trained) {
    const game = this.chosen;
    const choices = agentChoices(this.catalogue, game.key, trained);
    const isShipped = (seat) => /^zero(:level=\d+)?$/.test(seat);
    const before = this.selects.map(({ value }) => (value === opponent(this.trained) || (!trained && isShipped(value)) ? opponent(trained) : value));
    this.trained = trained;
    this.selects = Array.from({ length: this.hasSeats ? game.players : 0 }, (_, player) => new SeatSelect(`Player ${player + 1}`, choices, before[player] ?? (player === 0 ? "human" : opponent(trained))));
    this.seats.replaceChildren(...this.selects.map((select) => select.element));
  }

  /** Other options may be ones that no trained player knows. */
  async optionsChanged() {
    const game = this.game.value;
    const { trained } = await post("/api/trained", { game, options: this.given() }).catch(() => ({ trained: false }));
    if (game === this.game.value && trained !== this.trained) this.offerSeats(trained);
  }

  given() {
    const options = {};
    for (const [option, input] of this.inputs) {
      const value = option.kind === "bool" ? input.checked : option.kind === "int" || option.kind === "float" ? (input.value === "" ? null : Number(input.value)) : input.value;
      if (value !== option.default && !(value === "" && option.default === null) && value !== null) options[option.name] = value;
    }
    return options;
  }

  request() {
    return {
      game: this.game.value,
      options: this.given(),
      seats: this.hasSeats ? this.selects.map((select) => select.value) : undefined,
      clocks: this.clock.value || undefined,
      position: this.position.value.trim() || undefined,
      seed: Number(this.seed.value) || 0,
    };
  }

  async start(event) {
    event.preventDefault();
    await attempt(() => this.begin(this.request()));
  }

  async begin(request) {
    if (request.game) localStorage.setItem("ludus-game", request.game);
    const { id } = await this.waitFor(post("/api/games", request));
    if (!this.isGone) location.hash = `#/game/${id}${this.panel}`;
  }

  /** Wait for the server. If it takes longer than a moment, say why: rules in GDL are grounded and compiled first. */
  async waitFor(answer) {
    const button = this.form.querySelector("button[type=submit]");
    const began = performance.now();
    const timer = setInterval(async () => {
      const { text } = await get("/api/status").catch(() => ({ text: "" }));
      const seconds = Math.round((performance.now() - began) / 1000);
      if (button.disabled) this.progress.textContent = text || `Preparing the rules (${seconds} s) ...`;
    }, 500);
    button.disabled = true;
    try {
      return await answer;
    } finally {
      clearInterval(timer);
      button.disabled = false;
      this.progress.textContent = "";
    }
  }

  leave() {
    this.isGone = true;
  }

  /** Set up a position by hand, beside the form. */
  setUp() {
    const use = (text) => {
      this.position.value = text;
      this.closeSetUp();
      this.position.focus();
    };
    this.closeSetUp();
    this.editor = new SetUp({ game: this.game.value, options: this.given(), text: this.position.value, use });
    this.list.before(this.editor.element);
    this.editor.element.scrollIntoView({ block: "nearest" });
  }

  closeSetUp() {
    this.editor?.element.remove();
    this.editor = null;
  }

  async readPicture(input) {
    if (!input.files.length) return;
    await attempt(async () => {
      this.position.value = (await upload("/api/pictures/sevn", input.files[0])).position;
      toast("The position was read from the picture.", "news");
    });
  }

  async loadGame(input) {
    if (!input.files.length) return;
    await attempt(async () => {
      let record;
      try {
        record = JSON.parse(await input.files[0].text());
      } catch {
        throw new Error("This file is not a game: it is not JSON.");
      }
      await this.begin({ record });
    });
  }

  async loadRules(input) {
    if (!input.files.length) return;
    await attempt(async () => {
      const [file] = input.files;
      const name = file.name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9._-]/g, "-");
      const { key } = await this.waitFor(post("/api/rules", { name, text: await file.text() }));
      this.catalogue = await getCatalogue(true);
      this.build();
      this.game.value = key;
      this.choose();
      toast("The game is in the list.", "news");
    });
  }

  async showGames() {
    const { games } = await get("/api/games");
    const rows = games.map((game) =>
      html(
        "li",
        {},
        html("a", { href: `#/game/${game.id}${this.panel}` }, game.title),
        html("span", { class: "muted" }, `${game.seats.join(" – ")}, ${game.over ? game.result : `${game.ply} moves`}, ${new Date(1000 * game.updated).toLocaleString()}`),
        html("button", { type: "button", class: "icon", "aria-label": `Delete this game of ${game.title}`, onclick: () => attempt(() => this.removeGame(game.id)) }, "×"),
      ),
    );
    this.list.replaceChildren(html("h2", { id: "your-games" }, "Your games"), rows.length ? html("ul", { class: "rows" }, ...rows) : html("p", { class: "muted" }, "No games yet."));
  }

  async removeGame(id) {
    await remove(`/api/games/${id}`);
    await this.showGames();
  }
}

export class PlayLobby extends Lobby {
  title = "Play";
  heading = "New game";
  action = "Play";
  hasSeats = true;
  panel = "";
}

export class AnalyseLobby extends Lobby {
  title = "Analyse";
  heading = "Analyse a position";
  action = "Analyse";
  hasSeats = false;
  panel = "/analysis";
}
