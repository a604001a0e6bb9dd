// The players of a game: who sits where, clocks, and what an agent thinks while it thinks.

import { agentChoices, SeatSelect } from "./seats.js";
import { html } from "./svg.js";

const TICK = 100;

/** Seconds as 4:05, or 9.3 when little is left. */
export function clockText(seconds) {
  if (seconds < 10) return seconds.toFixed(1);
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** A value in [-1, 1] as people read it: the chance to win where one player's gain is the other's loss. */
export function confidence(value, state) {
  if (value === null) return "";
  return state.players.length === 2 && state.zero_sum ? `${Math.round(50 * (value + 1))} %` : value.toFixed(2);
}

export class Players {
  constructor(page) {
    this.page = page;
    this.element = html("div", { class: "players" });
    this.rows = [];
    this.left = [];
    this.running = [];
    this.since = performance.now();
    this.timer = setInterval(() => this.tick(), TICK);
  }

  stop() {
    clearInterval(this.timer);
  }

  build(state) {
    const choices = agentChoices(this.page.catalogue, state.game, state.trained);
    this.rows = state.players.map((each) => {
      const select = new SeatSelect(`Seat of ${each.name}`, choices, each.seat, { onchange: (seat) => this.page.send({ type: "seat", player: each.player, seat }) });
      const row = {
        select,
        paint: html("span", { class: "paint", "aria-hidden": "true" }),
        name: html("strong", {}, each.name),
        who: html("span", { class: "muted" }),
        clock: html("span", { class: "clock", role: "timer" }),
        take: html("button", { type: "button", onclick: () => this.page.send({ type: "claim", player: each.player }) }, "Take this seat"),
        bar: html("progress", { max: "1", "aria-label": `Progress of ${each.name}`, hidden: true }),
        thought: html("span", { class: "thought muted" }),
      };
      row.element = html("div", { class: "player" }, row.paint, row.name, row.who, select.element, row.take, row.clock, html("div", { class: "thinking" }, row.bar, row.thought));
      select.element.firstChild.classList.add("visually-hidden");
      return row;
    });
    this.element.replaceChildren(...this.rows.map((row) => row.element));
  }

  show(state) {
    if (this.rows.length !== state.players.length) this.build(state);
    state.players.forEach((each, player) => {
      const row = this.rows[player];
      const seated = state.players.some((other) => other.yours) || state.players.every((other) => !other.person);
      row.name.textContent = each.name;
      const seat = each.person && !each.yours ? "open" : each.seat;
      if (!row.select.element.contains(document.activeElement)) row.select.value = seat;
      row.select.element.hidden = !seated || (each.person && !each.yours && !each.free);
      row.take.hidden = !each.free;
      row.who.textContent = each.person ? (each.yours ? "" : each.free ? "free seat" : "another person") : row.select.element.hidden ? each.seat : "";
      row.element.classList.toggle("awaited", state.waiting_for.includes(player));
      row.element.classList.toggle("agent", !each.person);
      if (state.hidden.includes(player)) row.who.textContent = "has moved";
      const paint = state.view.board?.paints[player];
      if (paint) row.paint.style.background = paint;
      if (!each.thinking) {
        row.bar.hidden = true;
        row.thought.textContent = each.failed;
      }
    });
    this.setClocks(
      state.players.map((each) => each.left),
      state.players.filter((each) => each.running).map((each) => each.player),
    );
  }

  /** Show what an agent knows while it thinks: its progress, its confidence and the best line so far. */
  think({ player, snapshot }) {
    const row = this.rows[player];
    if (row === undefined) return;
    row.bar.hidden = false;
    if (snapshot.fraction === null) row.bar.removeAttribute("value");
    else row.bar.value = snapshot.fraction;
    const parts = [confidence(snapshot.value, this.page.state), snapshot.line.slice(0, 6).join(" "), `${snapshot.simulations.toLocaleString("en")} simulations`];
    row.thought.textContent = parts.filter(Boolean).join(" · ");
  }

  setClocks(left, running) {
    this.left = left;
    this.running = running;
    this.since = performance.now();
    this.tick();
  }

  tick() {
    const passed = (performance.now() - this.since) / 1000;
    this.rows.forEach((row, player) => {
      const left = this.left[player];
      row.clock.hidden = left === null || left === undefined;
      if (row.clock.hidden) return;
      const now = Math.max(0, left - (this.running.includes(player) ? passed : 0));
      const text = clockText(now);
      if (row.clock.textContent !== text) row.clock.textContent = text;
      row.clock.classList.toggle("low", now < 20);
    });
  }
}
