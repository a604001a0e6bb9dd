// Which game, and who sits at a seat: a person, an agent of the catalogue, the player of a run, or an agent by its name.

import { html } from "./svg.js";

const OTHER = "other";
const SOURCES = { "built-in": "Games", file: "Your games", gdl: "Rules in GDL", rules: "Uploaded rules" };

/** The options of a select for these games, grouped by where they come from: several may have one title. */
export function gameOptions(games) {
  return Object.entries(SOURCES).map(([source, label]) => {
    const found = games.filter((game) => game.source === source);
    return found.length ? html("optgroup", { label }, ...found.map((game) => html("option", { value: game.key }, game.title))) : null;
  });
}

const TRAINED = "zero";

/** Who plays against a person unless they choose: the trained player that comes with Ludus, or else a tree search. */
export function opponent(trained) {
  return trained ? TRAINED : "uct:1000";
}

/** The agents that can play a game: [{value, label}], runs included. `trained`: a player for it comes with Ludus. */
export function agentChoices(catalogue, game, trained) {
  const runs = catalogue.runs.filter((run) => run.game === game && run.checkpoints.length);
  return [
    ...catalogue.agents.filter((agent) => agent.games === null || (trained && agent.games.includes(game))).map((agent) => ({ value: agent.name, label: agent.title })),
    ...runs.flatMap((run) => [
      { value: `zero:${run.name}`, label: `Trained: ${run.name}` },
      { value: `policy:${run.name}`, label: `Trained, without search: ${run.name}` },
    ]),
  ];
}

/** A choice of who plays, with a field for any other agent. `onchange` is called with the seat. */
export class SeatSelect {
  constructor(label, choices, value, { onchange = () => {}, people = true } = {}) {
    const persons = people ? [{ value: "human", label: "You" }, { value: "open", label: "Another person" }] : [];
    this.known = [...persons, ...choices];
    this.onchange = onchange;
    this.select = html(
      "select",
      { "aria-label": label, onchange: () => this.changed() },
      ...this.known.map((choice) => html("option", { value: choice.value }, choice.label)),
      html("option", { value: OTHER }, "Another agent ..."),
    );
    this.text = html("input", { placeholder: "uct:2s, zero:RUN:800", "aria-label": `${label}: name of the agent`, autocomplete: "off", spellcheck: "false", onchange: () => this.changed() });
    this.element = html("label", { class: "field" }, html("span", {}, label), this.select, this.text);
    this.value = value;
  }

  changed() {
    this.text.hidden = this.select.value !== OTHER;
    if (this.value) this.onchange(this.value);
  }

  get value() {
    return this.select.value === OTHER ? this.text.value.trim() : this.select.value;
  }

  set value(value) {
    const isKnown = this.known.some((choice) => choice.value === value);
    this.select.value = isKnown ? value : OTHER;
    if (!isKnown) this.text.value = value;
    this.text.hidden = isKnown;
  }
}
