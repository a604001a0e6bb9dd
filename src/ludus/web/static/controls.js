// The buttons below the board: back and forth, hints, resigning, downloading.

import { html } from "./svg.js";

export class Controls {
  constructor(page) {
    this.page = page;
    const button = (label, text, act) => html("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const send = (type, more = {}) => () => page.send({ type, ...more });
    this.first = button("To the start", "|◀", () => page.send({ type: "jump", ply: 0 }));
    this.undo = button("One move back", "◀", send("undo"));
    this.redo = button("One move forward", "▶", send("redo"));
    this.last = button("To the end", "▶|", () => page.send({ type: "jump", ply: page.state.plies }));
    this.takeBack = button("Take back your last move", "Take back", send("take_back"));
    this.playOn = button("Let the agents play on from here", "Play on from here", send("resume"));
    this.hint = button("Ask for a hint", "Hint", () => this.askHint());
    this.stop = button("Make the agent move now", "Move now", send("stop"));
    this.pause = button("Pause", "Pause", () => page.send({ type: page.state.paused ? "resume" : "pause" }));
    this.resign = button("Resign", "Resign", () => this.confirmResign());
    this.draw = button("Offer or accept a draw", "Draw", () => this.offerDraw());
    this.back = button("Back to the game", "Back to the game", () => page.look(null));
    this.download = html("a", { class: "button", href: `/api/games/${encodeURIComponent(page.id)}/record`, download: "" }, "Download");
    this.share = button("Copy the address of this game", "Share", () => this.copyAddress());
    this.sure = html(
      "div",
      { class: "inline", hidden: true, role: "group", "aria-label": "Resign?" },
      html("span", {}, "Resign?"),
      html("button", { type: "button", class: "primary", onclick: () => this.confirm(true) }, "Yes, resign"),
      html("button", { type: "button", onclick: () => this.confirm(false) }, "No"),
    );
    this.element = html(
      "div",
      { class: "controls", hidden: true },
      html("div", { class: "inline", role: "group", "aria-label": "Back and forth" }, this.first, this.undo, this.redo, this.last),
      html("div", { class: "inline", role: "group", "aria-label": "Game" }, this.back, this.takeBack, this.playOn, this.hint, this.stop, this.pause, this.draw, this.resign, this.download, this.share),
      this.sure,
    );
  }

  show(state) {
    this.element.hidden = false; // there is nothing to control before the first state
    const own = state.players.filter((each) => each.yours);
    const people = state.players.filter((each) => each.person);
    const over = state.result !== null;
    const waits = state.waiting_for.some((player) => !state.players[player].person);
    const seated = own.length > 0 || people.length === 0;
    this.first.disabled = this.undo.disabled = !state.can_undo || !seated;
    this.last.disabled = this.redo.disabled = !state.can_redo || !seated;
    this.takeBack.hidden = own.length === 0;
    this.takeBack.disabled = !state.can_take_back;
    this.playOn.hidden = !(state.reviewing && waits && !over && seated);
    this.hint.hidden = over || !state.waiting_for.some((player) => state.players[player].yours);
    this.stop.hidden = !state.players.some((each) => each.thinking);
    this.pause.hidden = over || own.length === state.players.length;
    this.pause.textContent = state.paused ? "Go on" : "Pause";
    this.pause.setAttribute("aria-label", state.paused ? "Go on" : "Pause");
    this.resign.hidden = over || own.length === 0;
    this.draw.hidden = over || !state.zero_sum || people.length < state.players.length || people.length < 2;
    this.draw.textContent = state.draw_offers.length ? "Accept the draw" : "Offer a draw";
    this.back.hidden = this.page.looking === null;
    this.share.hidden = !people.some((each) => each.free);
    if (over) this.sure.hidden = true;
  }

  askHint() {
    this.page.say("Looking for a hint ...");
    const { state } = this.page;
    const player = state.waiting_for.find((each) => state.players[each].yours);
    this.page.send({ type: "hint", player });
  }

  confirmResign() {
    this.sure.hidden = false;
    this.sure.querySelector("button").focus();
  }

  confirm(isSure) {
    this.sure.hidden = true;
    const { state } = this.page;
    const own = state.players.filter((each) => each.yours).map((each) => each.player);
    if (isSure) this.page.send({ type: "resign", player: own.find((player) => state.waiting_for.includes(player)) ?? own[0] });
    this.resign.focus();
  }

  offerDraw() {
    const { state } = this.page;
    for (const each of state.players.filter((player) => player.yours && !state.draw_offers.includes(player.player))) this.page.send({ type: "draw", player: each.player });
  }

  async copyAddress() {
    const address = location.href;
    try {
      await navigator.clipboard.writeText(address);
      this.page.say("The address was copied: whoever opens it can take the free seat.");
    } catch {
      this.page.say(`The address of this game: ${address}`);
    }
  }
}
