"use strict";
// Every text of a pair reaches the page as text (textContent), every picture as an encoded address: never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const pairs = data.pairs;
const get = (id) => document.getElementById(id);
const REDUCED = matchMedia("(prefers-reduced-motion: reduce)").matches;

function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content.filter((part) => part !== null && part !== undefined));
  return element;
}

function button(className, text, onClick) {
  const element = make("button", className, text);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

// Every pair gets its place, what a search looks through, and the verdict in one word.
pairs.forEach((pair, place) => {
  pair.place = place;
  pair.changes ??= [];
  pair.tags ??= {};
  pair.sizes = [pair.size_before ?? null, pair.size_after ?? null];
  pair.verdict = pair.error ? "failed" : pair.doubtful ? "doubtful" : pair.verdict;
  const sentences = pair.changes.flatMap((change) => [change.sentence, ...(change.read ?? [])]);
  const others = (pair.captions ?? []).map(({ parts }) => parts.map(([text]) => text).join(" "));
  const texts = [pair.id, ...others, pair.caption, pair.error, ...(pair.references ?? []), ...(pair.facts ?? []), ...sentences];
  pair.text = texts.filter(Boolean).join("\n").toLowerCase();
});

// What somebody chose stays for the next visit where the browser keeps things for files.
const kept = {
  get(name) {
    try {
      return localStorage.getItem("whatchanged-" + name);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem("whatchanged-" + name, value);
    } catch {
      // a browser that keeps nothing for files
    }
  },
};

const THEMES = ["auto", "light", "dark"];

function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  get("theme").textContent = `Colours: ${theme}`;
}

get("theme").addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  showTheme(next);
  kept.set("theme", next);
});
showTheme(THEMES.includes(kept.get("theme")) ? kept.get("theme") : "auto");

// On a narrow screen tables are long, and the pairs come first.
if (innerWidth < 640) for (const table of document.querySelectorAll("#top details")) table.open = false;
