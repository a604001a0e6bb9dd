// The panels beside a board, in the order of their tabs. game.js says what a panel is.

import { AnalysisPanel } from "./analysis.js";
import { agentChoices } from "./seats.js";
import { MovesPanel } from "./moves.js";
import { html } from "./svg.js";
import { TreePanel } from "./tree.js";

/** The analysis of the present position. It stops when its tab and that of the tree are left. */
class AnalysisTab {
  name = "analysis";
  title = "Analysis";

  constructor(page) {
    this.page = page;
    this.element = html("div", {});
    const preview = async (moves) => (await page.ask({ type: "view", ply: page.state.ply, moves })).view;
    this.panel = new AnalysisPanel(this.element, { send: (message) => page.send(message), board: page.board, preview });
    for (const type of ["snapshot", "review"]) page.addEventListener(type, (event) => this.panel.message(event.detail));
  }

  show(state) {
    if (this.game !== state.game) {
      this.game = state.game;
      this.panel.agents([{ name: "uct", title: "Tree search" }, ...agentChoices(this.page.catalogue, state.game).map(({ value, label }) => ({ name: value, title: label }))]);
    }
    this.panel.state(state);
  }
}

/** The tree of the analysis. */
class TreeTab {
  name = "tree";
  title = "Tree";

  constructor(page) {
    this.element = html("div", {});
    this.panel = new TreePanel(this.element, { send: (message) => page.send(message) });
    page.addEventListener("tree", (event) => this.panel.message(event.detail));
  }

  show() {}
}

export const PANELS = [MovesPanel, AnalysisTab, TreeTab];
