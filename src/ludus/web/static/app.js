// The pages of Ludus. The address after # says which one: #/play, #/game/ID, #/game/ID/PANEL, #/analyse, #/learn, #/arena.

import { html } from "./svg.js";
import { switchTheme } from "./theme.js";

const main = document.getElementById("main");
const toasts = document.getElementById("toasts");

/** The module and the class of each page, loaded when it is first shown. */
const PAGES = {
  play: () => import("./lobby.js").then((module) => module.PlayLobby),
  analyse: () => import("./lobby.js").then((module) => module.AnalyseLobby),
  game: () => import("./game.js").then((module) => module.GamePage),
  learn: () => import("./learn.js").then((module) => module.LearnPage),
  arena: () => import("./arena.js").then((module) => module.ArenaPage),
};

let page = null;
let serial = 0;

/** Show a short message that goes away by itself: by default a failure, or news, of the kind "news". */
export function toast(text, kind = "warning") {
  const box = html("div", { class: `toast ${kind}` }, html("span", {}, text), html("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => box.remove() }, "×"));
  toasts.append(box);
  setTimeout(() => box.remove(), 8000);
}

/** Show what a promise fails with. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    toast(error.message);
    return undefined;
  }
}

async function route() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const wanted = Object.hasOwn(PAGES, name) ? name : "play";
  if (page?.accepts?.(wanted, rest)) return;
  const mine = ++serial;
  page?.leave?.();
  page = null;
  const section = { game: "play" }[wanted] ?? wanted;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#/${section}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren(html("p", { class: "muted" }, "Loading ..."));
  try {
    const Page = await PAGES[wanted]();
    if (mine !== serial) return;
    const made = new Page(rest);
    page = made;
    main.replaceChildren(made.element);
    document.title = `${made.title} · Ludus`;
    await made.enter?.();
  } catch (error) {
    if (mine === serial) main.replaceChildren(html("p", { class: "panel warning" }, error.message));
  }
}

document.getElementById("theme").addEventListener("click", switchTheme);
addEventListener("hashchange", route);
route();
