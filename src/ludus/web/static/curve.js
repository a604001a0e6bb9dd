// The value over the whole game as a curve. A click, or the slider below it, jumps to a move.

import { html, svg } from "./svg.js";

const WIDTH = 600;
const HEIGHT = 160;
const EDGE = 8;

export class Curve {
  /** `jump(ply)` is called when the person chooses a move. */
  constructor(jump) {
    this.jump = jump;
    this.svg = svg("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    this.svg.addEventListener("click", (event) => this.plies && this.jump(this.plyAt(event)));
    this.slider = html("input", { type: "range", min: "0", max: "0", step: "1", "aria-label": "Jump to a move", onchange: () => this.jump(Number(this.slider.value)) });
    this.legend = html("p", { class: "muted curve-legend" });
    this.element = html("div", { class: "curve-box" }, this.svg, this.slider, this.legend);
  }

  plyAt(event) {
    const box = this.svg.getBoundingClientRect();
    const part = (event.clientX - box.left) / box.width;
    return Math.min(this.plies, Math.max(0, Math.round((part * WIDTH - EDGE) / ((WIDTH - 2 * EDGE) / this.plies))));
  }

  /** `points`: [{ply, values}]; `single`: one line serves two players, whose values cancel. */
  show({ points, plies, ply, names, paints, single }) {
    this.plies = plies;
    this.slider.max = String(plies);
    this.slider.value = String(ply);
    this.slider.setAttribute("aria-valuetext", `after move ${ply} of ${plies}`);
    this.slider.disabled = plies === 0;
    this.x = (at) => EDGE + (plies ? (at * (WIDTH - 2 * EDGE)) / plies : 0);
    this.y = (value) => HEIGHT / 2 - value * (HEIGHT / 2 - EDGE);
    const players = single ? [0] : names.map((_, player) => player);
    const lines = players.map((player) => {
      const known = points.filter(({ values }) => Number.isFinite(values[player]));
      const path = known.map(({ ply: at, values }) => `${this.x(at).toFixed(1)},${this.y(values[player]).toFixed(1)}`).join(" ");
      const dash = single ? null : [null, "8 5", "2 5", "12 4 2 4"][player % 4];
      return svg("polyline", { points: path, class: "value", stroke: single ? null : paints[player], "stroke-dasharray": dash });
    });
    this.points = points;
    this.svg.replaceChildren(
      svg("line", { x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2, class: "zero" }),
      svg("line", { x1: this.x(ply), x2: this.x(ply), y1: 0, y2: HEIGHT, class: "now" }),
      ...lines,
    );
    this.legend.textContent = points.length ? (single ? `above the middle: good for ${names[0]}; below: good for ${names[1]}` : names.join(", ")) : "no values yet: let an agent play, or review the game";
  }

  /** Mark mistakes: [{ply, loss}] at the move that followed. */
  mistakes(found) {
    for (const each of found) {
      const value = this.points.find(({ ply }) => ply === each.ply)?.values[0] ?? 0;
      this.svg.append(svg("path", { class: "mistake", d: `M${this.x(each.ply + 1) - 7} ${this.y(value) - 16}h14l-7 11z` }));
    }
  }
}
