// The page of a game under way: the board, the players, the controls, and panels beside them (panels.js).
//
// A panel is a class with `title`, `name` and `element`, made with this page. The page is an EventTarget: every message of
// the server is an event named by its type. Panels use
//     page.state                 the last message `state`
//     page.board                 the BoardView
//     page.send(message)         sends a message;   page.ask(message) waits for its answer
//     page.look(view)            shows another position than the game's; page.look(null) goes back to the game
//     page.say(text)             a line for people below the board
// and the page calls panel.show(state), and panel.opened(isOpen) when its tab is opened or closed.

import { getCatalogue } from "./api.js";
import { toast } from "./app.js";
import { BoardView } from "./board.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { PANELS } from "./panels.js";
import { Players } from "./players.js";
import { html } from "./svg.js";

export class GamePage extends EventTarget {
  title = "Game";

  constructor([id, panel]) {
    super();
    this.id = id;
    this.state = null;
    this.looking = null;
    this.shown = "";
    const boardElement = html("div", {});
    this.heading = html("h1", {}, "Game");
    this.caption = html("p", { class: "muted caption", hidden: true });
    this.status = html("p", { class: "status", role: "status", "aria-live": "polite" }, "Opening ...");
    this.result = html("div", { class: "result", role: "status", hidden: true });
    this.notice = html("p", { class: "notice", hidden: true });
    this.board = new BoardView(boardElement);
    this.players = new Players(this);
    this.controls = new Controls(this);
    this.panels = PANELS.map((Panel) => new Panel(this));
    this.tabs = html("div", { class: "tabs", role: "tablist", "aria-label": "Panels" }, ...this.panels.map((each) => this.makeTab(each)));
    this.side = html("div", { class: "side" }, this.tabs, ...this.panels.map((each) => this.wrap(each)));
    this.element = html(
      "div",
      { class: "game", "data-game": id },
      html("section", { class: "table", "aria-label": "Game" }, html("div", { class: "game-head" }, this.heading, this.status), this.caption, this.notice, this.result, this.players.element, boardElement, this.controls.element),
      this.side,
    );
    this.board.addEventListener("move", (event) => this.send({ type: "play", player: event.detail.player, move: event.detail.move }));
    this.board.addEventListener("refused", (event) => this.explain(event.detail));
    this.openPanel(panel ?? this.panels[0].name);
  }

  async enter() {
    this.catalogue = await getCatalogue();
    this.connection = new Connection(`/api/games/${encodeURIComponent(this.id)}/live`);
    for (const type of ["state", "thinking", "clock", "snapshot", "tree", "hint", "review", "view", "status", "error", "lost", "gone", "open"]) {
      this.connection.addEventListener(type, (event) => this.receive(type, event.detail));
    }
  }

  leave() {
    for (const panel of this.panels) panel.opened?.(false);
    this.connection?.close();
    this.players.stop();
  }

  /** True if a change of the address concerns this page only. */
  accepts(name, [id, panel]) {
    if (name !== "game" || id !== this.id) return false;
    this.openPanel(panel ?? this.panels[0].name);
    return true;
  }

  send(message) {
    const sent = this.connection.send(message);
    if (!sent) toast("There is no connection to the server.");
    return sent;
  }

  ask(message) {
    return this.connection.ask(message);
  }

  // --- panels ----------------------------------------------------------------------------------------------------

  makeTab(panel) {
    return html(
      "button",
      { type: "button", role: "tab", id: `tab-${panel.name}`, "aria-controls": `panel-${panel.name}`, onclick: () => (location.hash = `#/game/${this.id}/${panel.name}`), onkeydown: (event) => this.onTabKey(event) },
      panel.title,
    );
  }

  wrap(panel) {
    return html("div", { class: "panel", role: "tabpanel", id: `panel-${panel.name}`, "aria-labelledby": `tab-${panel.name}`, tabindex: "0" }, panel.element);
  }

  openPanel(name) {
    const known = this.panels.some((panel) => panel.name === name) ? name : this.panels[0].name;
    for (const panel of this.panels) {
      const isOpen = panel.name === known;
      const tab = this.tabs.querySelector(`#tab-${panel.name}`);
      tab.setAttribute("aria-selected", String(isOpen));
      tab.setAttribute("tabindex", isOpen ? "0" : "-1");
      this.side.querySelector(`#panel-${panel.name}`).hidden = !isOpen;
      if (panel.isOpen !== isOpen) {
        panel.isOpen = isOpen;
        panel.opened?.(isOpen);
      }
    }
  }

  onTabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...this.tabs.children];
    const next = tabs[(tabs.indexOf(event.currentTarget) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
    event.preventDefault();
  }

  // --- messages --------------------------------------------------------------------------------------------------

  receive(type, message) {
    if (type === "state") this.show(message);
    if (type === "thinking") this.think(message);
    if (type === "clock") this.players.setClocks(message.left, message.running);
    if (type === "status") this.note(message.text);
    if (type === "open") this.note("");
    if (type === "lost") this.note("The connection is lost; trying again ...");
    if (type === "gone") {
      this.status.textContent = "";
      this.note(message);
    }
    if (type === "error") this.complain(message.message);
    if (type === "hint") this.say(`Hint: ${message.move}${message.line.length > 1 ? ` (then ${message.line.slice(1, 6).join(" ")})` : ""}`);
    this.dispatchEvent(new CustomEvent(type, { detail: message }));
  }

  /** An agent thinks: the state that came before does not say so yet. */
  think(message) {
    const player = this.state?.players[message.player];
    if (!player) return;
    if (!player.thinking) {
      player.thinking = true;
      this.controls.show(this.state);
      this.status.textContent = this.situation(this.state);
    }
    this.players.think(message);
  }

  note(text) {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  say(text) {
    this.board.say(text);
  }

  complain(text) {
    this.say(text);
    toast(text);
  }

  async explain({ player, touched }) {
    const { state } = this;
    if (state === null || this.looking !== null) return;
    if (state.result) return this.say("The game is over.");
    const own = state.players.filter((each) => each.yours).map((each) => each.player);
    if (!state.waiting_for.some((each) => own.includes(each))) return this.say(own.length ? "It is not your turn." : "You watch this game.");
    try {
      this.say((await this.ask({ type: "why", touched, player: player ?? undefined })).message);
    } catch (error) {
      this.say(error.message);
    }
  }

  show(state) {
    const before = this.state;
    this.state = state;
    this.heading.textContent = state.title;
    this.caption.textContent = state.caption;
    this.caption.hidden = !state.caption;
    this.title = state.title;
    document.title = `${state.title} · Ludus`;
    if (before !== null && before.ply !== state.ply) this.looking = null;
    this.drawBoard(before);
    this.players.show(state);
    this.controls.show(state);
    this.status.textContent = this.situation(state);
    this.announce(state, before);
    for (const panel of this.panels) panel.show(state);
  }

  /** Show a position that is not the game's present one; null shows the game again. */
  look(view) {
    this.looking = view;
    this.drawBoard(null);
    this.controls.show(this.state);
  }

  drawBoard(before) {
    const view = this.looking ?? this.state.view;
    const moves = this.looking ? [] : this.state.moves;
    const key = JSON.stringify([view.ply, view.text, moves.map((move) => [move.player, move.action]), this.looking !== null]);
    if (before !== null && key === this.shown) return;
    this.shown = key;
    const board = view.board ?? { players: [], paints: [], cells: [], pieces: [], hands: [], marks: [], lines: [], table: null, notes: [...view.drawing.split("\n"), ...(view.problem ? ["", view.problem] : [])], glyphs: {}, moves: [], any_order: false, last: [], won: [], falls: false, pans: false };
    this.board.show(board, { moves, animate: true });
  }

  situation(state) {
    if (state.result) return "The game is over.";
    if (state.paused) return "Paused.";
    const name = (player) => state.players[player].name;
    const waiting = state.waiting_for.map((player) => state.players[player]);
    if (state.reviewing && waiting.some((each) => !each.person)) return `Move ${state.ply} of ${state.plies}. Go to the end, or let them play on from here.`;
    const failed = waiting.filter((each) => each.failed);
    if (failed.length) return `${failed[0].seat} cannot move: ${failed[0].failed}`;
    if (waiting.every((each) => each.yours)) return waiting.length === 1 && state.players.filter((each) => each.yours).length === 1 ? "Your turn." : `${listed(waiting.map((each) => each.name))} to move.`;
    return `${listed(state.waiting_for.map(name))} to move${waiting.some((each) => each.thinking) ? ", thinking ..." : "."}`;
  }

  /** The end of the game with its reason, above the board. */
  announce(state, before) {
    const text = state.result?.text ?? "";
    this.result.hidden = !text;
    if (text !== (before?.result?.text ?? "") || before === null) {
      this.result.replaceChildren(...(text ? [html("strong", {}, text), html("span", { class: "muted" }, ` ${{ rules: `After ${state.ply} moves.`, time: "On time.", resignation: "", agreement: "" }[state.result.reason] ?? ""}`)] : []));
    }
  }
}

/** Names as people list them: a, b and c. */
function listed(names) {
  return names.length < 3 ? names.join(" and ") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
