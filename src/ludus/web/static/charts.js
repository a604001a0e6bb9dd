// Line charts in SVG, without a library: several series over one x, with intervals, a legend, and a table for readers.

import { html, svg } from "./svg.js";

const WIDTH = 460;
const HEIGHT = 220;
const LEFT = 52;
const BOTTOM = 28;
const TOP = 10;
const RIGHT = 10;
/** Dashes tell series apart for those who do not see colours. */
const DASHES = ["", "7 4", "2 4", "10 3 2 3"];

/** About five round numbers from `low` to `high`. */
export function ticks(low, high) {
  const span = high - low || 1;
  const raw = span / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}

export function short(number) {
  if (number === null || number === undefined) return "";
  const size = Math.abs(number);
  if (size >= 1e6) return `${+(number / 1e6).toFixed(1)} M`;
  if (size >= 1e4) return `${+(number / 1e3).toFixed(0)} k`;
  if (size >= 100 || Number.isInteger(number)) return String(Math.round(number));
  return String(+(size < 1 ? number.toFixed(3) : number.toPrecision(3)));
}

/** The texts of ticks, with as many digits as tell them apart. */
export function tickTexts(values) {
  const step = values.length > 1 ? values[1] - values[0] : 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  return values.map((value) => (digits ? value.toFixed(digits) : short(value)));
}

/**
 * A chart. `series`: [{name, points: [{x, y, low?, high?}]}]; points without y are left out.
 * `unit` is written behind values; with `zero` the y axis includes 0.
 */
export function lineChart(title, series, { xTitle = "", unit = "", zero = false } = {}) {
  const shown = series.map((each) => ({ ...each, points: each.points.filter((point) => Number.isFinite(point.y)) })).filter((each) => each.points.length);
  const figure = html("figure", { class: "chart" }, html("figcaption", {}, title));
  if (!shown.length) {
    figure.append(html("p", { class: "muted" }, "No figures yet."));
    return figure;
  }
  const all = shown.flatMap((each) => each.points);
  const xs = all.map((point) => point.x);
  const ys = all.flatMap((point) => [point.y, point.low, point.high]).filter(Number.isFinite);
  let [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
  if (zero) [y0, y1] = [Math.min(0, y0), Math.max(0, y1)];
  if (x0 === x1) [x0, x1] = [x0 - 1, x1 + 1];
  if (y0 === y1) [y0, y1] = [y0 - Math.abs(y0) / 10 - 0.1, y1 + Math.abs(y1) / 10 + 0.1];
  const toX = (x) => LEFT + ((x - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const toY = (y) => HEIGHT - BOTTOM - ((y - y0) / (y1 - y0)) * (HEIGHT - BOTTOM - TOP);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": describe(title, shown, unit) });
  const [rows, columns] = [ticks(y0, y1), ticks(x0, x1)];
  const [rowTexts, columnTexts] = [tickTexts(rows), tickTexts(columns)];
  rows.forEach((y, at) => {
    picture.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: toY(y), y2: toY(y), class: "grid" }), svg("text", { x: LEFT - 6, y: toY(y) + 4, class: "tick y" }, `${rowTexts[at]}${unit}`));
  });
  const end = WIDTH - RIGHT - (xTitle ? 8 * xTitle.length + 8 : 0); // the title of the axis stands at its end
  columns.forEach((x, at) => {
    if (toX(x) <= end) picture.append(svg("text", { x: toX(x), y: HEIGHT - 9, class: "tick x" }, columnTexts[at]));
  });
  if (xTitle) picture.append(svg("text", { x: WIDTH - RIGHT, y: HEIGHT - 9, class: "tick end" }, xTitle));
  shown.forEach((each, number) => {
    const kind = `series s${number % 6}`;
    const banded = each.points.filter((point) => Number.isFinite(point.low) && Number.isFinite(point.high));
    if (banded.length > 1) {
      const up = banded.map((point) => `${toX(point.x)},${toY(point.high)}`);
      const down = banded.map((point) => `${toX(point.x)},${toY(point.low)}`).reverse();
      picture.append(svg("polygon", { points: [...up, ...down].join(" "), class: `band ${kind}` }));
    }
    picture.append(svg("polyline", { points: each.points.map((point) => `${toX(point.x)},${toY(point.y)}`).join(" "), class: `line ${kind}`, "stroke-dasharray": DASHES[number % DASHES.length] || null }));
    const last = each.points.at(-1);
    picture.append(svg("circle", { cx: toX(last.x), cy: toY(last.y), r: 3, class: `dot ${kind}` }));
  });
  figure.append(picture);
  if (shown.length > 1 || shown[0].name) {
    figure.append(
      html(
        "ul",
        { class: "legend" },
        ...shown.map((each, number) => html("li", {}, svg("svg", { viewBox: "0 0 24 8", "aria-hidden": "true" }, svg("line", { x1: 0, x2: 24, y1: 4, y2: 4, class: `line series s${number % 6}`, "stroke-dasharray": DASHES[number % DASHES.length] || null })), `${each.name}: ${short(each.points.at(-1).y)}${unit}`)),
      ),
    );
  }
  return figure;
}

function describe(title, shown, unit) {
  return `${title}. ${shown.map((each) => `${each.name || "Latest"}: ${short(each.points.at(-1).y)}${unit}, from ${short(each.points[0].y)}${unit}`).join("; ")}`;
}
