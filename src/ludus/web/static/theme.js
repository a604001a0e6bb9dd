// Light or dark: as the person has chosen here, else as the system says. Every page loads this.

const KEY = "ludus-theme";
const root = document.documentElement;

const chosen = localStorage.getItem(KEY);
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

/** Switch from light to dark, or back, and remember it. */
export function switchTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem(KEY, root.dataset.theme);
}
