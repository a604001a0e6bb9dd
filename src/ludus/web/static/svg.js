// Small helpers to build SVG and HTML elements. Text is only ever set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes; attributes that are null or undefined are left out. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** An HTML element with attributes and children; texts become text nodes. */
export function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Pixels of the drawing for one cell. */
export const UNIT = 100;

/** The corners of a hexagon with a vertical axis, as a list of points. */
export function hexagon(x, y, width) {
  const radius = width / Math.sqrt(3);
  const points = [];
  for (let k = 0; k < 6; k++) {
    const turn = (k * Math.PI) / 3;
    points.push(`${(x + radius * Math.sin(turn)).toFixed(1)},${(y - radius * Math.cos(turn)).toFixed(1)}`);
  }
  return points.join(" ");
}

/** The outline of a cell, somewhat smaller by `inset`. */
export function outline(cell, inset, attributes) {
  const x = cell.x * UNIT;
  const y = cell.y * UNIT;
  const size = UNIT * (1 - inset);
  if (cell.shape === "hexagon") return svg("polygon", { points: hexagon(x, y, size), ...attributes });
  if (cell.shape === "square") {
    return svg("rect", { x: x - size / 2, y: y - size / 2, width: size, height: size, rx: inset ? 8 : 0, ...attributes });
  }
  return svg("circle", { cx: x, cy: y, r: (0.92 * size) / 2, ...attributes });
}

/** Black or white, whichever is easier to read on a paint (#rrggbb). */
export function inkOn(paint) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(paint.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#2b2d33" : "#ffffff";
}

const REACH = { disc: 22, tile: 24, hexagon: 29, bare: 34 };

/** A piece with its centre at the origin. */
export function drawPiece(piece, glyphs) {
  const group = svg("g", { class: `piece ${piece.shape}` });
  const body = { fill: piece.paint, class: "body" };
  if (piece.shape === "disc") group.append(svg("circle", { r: 38, ...body }));
  if (piece.shape === "tile") group.append(svg("rect", { x: -43, y: -43, width: 86, height: 86, rx: 12, ...body }));
  if (piece.shape === "hexagon") group.append(svg("polygon", { points: hexagon(0, 0, 92), ...body }));
  const ink = piece.shape === "bare" ? piece.paint : inkOn(piece.paint);
  if (piece.symbol) {
    const lift = piece.text ? -4 : 0;
    const place = `translate(0 ${lift}) scale(${REACH[piece.shape]})`;
    group.append(svg("path", { d: glyphs[piece.symbol], transform: place, fill: ink, stroke: ink, class: "symbol" }));
  }
  if (piece.text) {
    const size = piece.symbol ? 16 : piece.text.length < 3 ? 32 : 22;
    group.append(svg("text", { y: piece.symbol ? 35 : 1, "font-size": size, fill: ink }, piece.text));
  }
  return group;
}

/** A small picture of one piece, for hands and tables. */
export function pieceIcon(piece, glyphs) {
  return svg("svg", { viewBox: "-50 -55 100 110", class: "piece-icon", "aria-hidden": "true" }, drawPiece(piece, glyphs));
}

/** A labelled input of a form, with a hint below it. */
export function field(label, input, hint = null) {
  return html("label", { class: "field" }, html("span", {}, label), input, hint && html("small", { class: "muted" }, hint));
}
