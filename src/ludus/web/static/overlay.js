// An analysis drawn on the board: heat on the cells of moves with one click, arrows for moves from one cell to another.
// The share of the visits is written on the cell too, so that nothing depends on colour alone.

import { outline, svg, UNIT } from "./svg.js";

const MOST_ARROWS = 6;

/** `cells` by id; `marks`: [{move: {touches}, share, label, best}], shares from 0 to 1. */
export function drawOverlay(cells, marks) {
  const ordered = [...marks].sort((a, b) => b.share - a.share);
  const heat = new Map();
  const parts = [];
  const arrows = [];
  for (const mark of ordered) {
    const places = mark.move.touches.map((ids) => cells.get(ids[0])).filter((cell) => cell !== undefined);
    if (places.length === 0) continue;
    const end = places.at(-1);
    if (places.length === 2 && mark.move.touches.length === 2 && !mark.anyOrder) {
      if (arrows.length < MOST_ARROWS) arrows.push(arrow(places[0], end, mark));
      continue;
    }
    for (const cell of places) {
      const known = heat.get(cell.id) ?? { cell, share: 0, label: "", best: false };
      known.share += mark.share;
      if (!known.label || mark.best) known.label = mark.label;
      known.best ||= mark.best;
      heat.set(cell.id, known);
    }
  }
  const most = Math.max(...[...heat.values()].map((each) => each.share), 0.01);
  for (const { cell, share, label, best } of heat.values()) {
    if (share < 0.005) continue;
    parts.push(outline(cell, 0.06, { class: best ? "heat best" : "heat", "fill-opacity": (0.12 + (0.6 * share) / most).toFixed(2) }));
    if (label && share / most > 0.08) parts.push(labelAt(cell.x * UNIT, cell.y * UNIT, label));
  }
  return [...parts, ...arrows.reverse()];
}

function labelAt(x, y, text) {
  return svg("text", { class: "heat-label", x, y, "font-size": 24 }, text);
}

function arrow(from, to, mark) {
  const [x, y, u, v] = [from.x, from.y, to.x, to.y].map((number) => number * UNIT);
  const length = Math.hypot(u - x, v - y) || 1;
  const [ex, ey] = [(u - x) / length, (v - y) / length];
  const width = 5 + 16 * mark.share;
  const head = 14 + width;
  const [tipX, tipY] = [u - ex * 12, v - ey * 12];
  const [baseX, baseY] = [tipX - ex * head, tipY - ey * head];
  const points = [
    [tipX, tipY],
    [baseX - ey * head * 0.6, baseY + ex * head * 0.6],
    [baseX + ey * head * 0.6, baseY - ex * head * 0.6],
  ];
  return svg(
    "g",
    { class: mark.best ? "arrow best" : "arrow", opacity: (0.35 + 0.65 * mark.share).toFixed(2) },
    svg("line", { x1: x + ex * 20, y1: y + ey * 20, x2: baseX, y2: baseY, "stroke-width": width }),
    svg("polygon", { points: points.map((point) => point.map((number) => number.toFixed(1)).join(",")).join(" ") }),
    labelAt((x + baseX) / 2, (y + baseY) / 2, mark.label),
  );
}
