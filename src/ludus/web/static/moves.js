// The panel with the moves of the game: who moved, what agents expected; a click goes to the position after a move.

import { html } from "./svg.js";

export class MovesPanel {
  name = "moves";
  title = "Moves";

  constructor(page) {
    this.page = page;
    this.list = html("ol", { class: "history", "aria-label": "Moves of the game" });
    this.empty = html("p", { class: "muted" }, "No moves yet.");
    this.position = html("input", { readonly: true, "aria-label": "The position as text", onfocus: (event) => event.target.select() });
    this.copy = html("button", { type: "button", onclick: () => this.copyPosition() }, "Copy");
    this.element = html("div", {}, html("h2", {}, "Moves"), this.empty, this.list, html("div", { class: "inline" }, this.position, this.copy));
    this.shown = "";
  }

  show(state) {
    this.position.value = state.view.text;
    this.empty.hidden = state.history.length > 0;
    const key = JSON.stringify([state.ply, state.history.map((each) => each.move)]);
    if (key === this.shown) return;
    this.shown = key;
    const focused = this.list.contains(document.activeElement);
    this.list.replaceChildren(this.item(0, "Start", state, null), ...state.history.map((each) => this.item(each.ply, each.move, state, each)));
    const current = this.list.querySelector("[aria-current]");
    if (focused) current?.focus();
    if (current) this.list.scrollTop = current.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
  }

  item(ply, label, state, entry) {
    const values = entry === null ? [] : Object.entries(entry.values);
    const told = values.map(([player, value]) => `${state.players[player].name} expects ${value.toFixed(2)}`).join(", ");
    return html(
      "li",
      { value: ply },
      html(
        "button",
        { type: "button", class: ply > state.ply ? "undone" : "", "aria-current": ply === state.ply ? "step" : null, title: told || null, onclick: () => this.page.send({ type: "jump", ply }) },
        html("span", {}, label),
        values.length ? html("span", { class: "expected" }, values.map(([, value]) => (value >= 0 ? "+" : "\u2212") + Math.abs(value).toFixed(2)).join(" ")) : null,
      ),
    );
  }

  async copyPosition() {
    try {
      await navigator.clipboard.writeText(this.position.value);
      this.page.say("The position was copied.");
    } catch {
      this.position.select();
      this.page.say("Press Ctrl-C to copy the selected text.");
    }
  }
}
