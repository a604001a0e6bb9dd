// The part of a board that is shown. A bounded board always fits; one without bounds is moved by dragging, and zoomed by
// the wheel or with two fingers.

import { UNIT } from "./svg.js";

const MOST_SCALE = 4;
const DRAG_FROM = 6;

export class Camera {
  constructor(element) {
    this.svg = element;
    this.isFree = false;
    this.isTouched = false;
    this.dragged = false;
    this.pointers = new Map();
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) element.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /** The board covers this rectangle, in cells. A view that the person has moved stays where it is. */
  frame(rectangle, isFree) {
    const [least, margin] = isFree ? [6, 0.6] : [0, 0];
    const width = Math.max(rectangle.width + margin, least);
    const height = Math.max(rectangle.height + margin, least * 0.75);
    this.home = {
      x: UNIT * (rectangle.left - (width - rectangle.width) / 2),
      y: UNIT * (rectangle.top - (height - rectangle.height) / 2),
      width: UNIT * width,
      height: UNIT * height,
    };
    this.isFree = isFree;
    if (!isFree || !this.isTouched) this.fit();
    else this.apply();
  }

  fit() {
    this.isTouched = false;
    this.view = { ...this.home };
    this.apply();
  }

  scale(factor, at = null) {
    const { view, home } = this;
    const width = Math.min(Math.max(view.width * factor, home.width / MOST_SCALE), home.width * 2);
    const ratio = width / view.width;
    const [x, y] = at ?? [view.x + view.width / 2, view.y + view.height / 2];
    this.view = { x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio, width, height: view.height * ratio };
    this.isTouched = true;
    this.apply();
  }

  apply() {
    const { x, y, width, height } = this.view;
    this.svg.setAttribute("viewBox", [x, y, width, height].map((number) => number.toFixed(1)).join(" "));
    this.svg.style.setProperty("--ratio", String(this.home.width / this.home.height));
    this.svg.style.setProperty("--cells", String(this.home.width / UNIT));
  }

  /** The place in the drawing under a point of the screen. */
  at(clientX, clientY) {
    const point = new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  down(event) {
    this.dragged = false;
    if (this.isFree) this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, startX: event.clientX, startY: event.clientY });
  }

  move(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return;
    const far = Math.hypot(event.clientX - pointer.startX, event.clientY - pointer.startY) > DRAG_FROM;
    if (!far && !this.dragged) return;
    this.dragged = true;
    const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, each]) => each);
    if (others.length === 0) {
      const [fromX, fromY] = this.at(pointer.x, pointer.y);
      const [toX, toY] = this.at(event.clientX, event.clientY);
      this.view.x -= toX - fromX;
      this.view.y -= toY - fromY;
      this.isTouched = true;
      this.apply();
    } else {
      const [other] = others;
      const before = Math.hypot(pointer.x - other.x, pointer.y - other.y);
      const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      if (after > 0) this.scale(before / after, this.at((event.clientX + other.x) / 2, (event.clientY + other.y) / 2));
    }
    pointer.x = event.clientX;
    pointer.y = event.clientY;
  }

  wheel(event) {
    if (!this.isFree) return;
    event.preventDefault();
    this.scale(Math.exp(event.deltaY * 0.0015), this.at(event.clientX, event.clientY));
  }
}
