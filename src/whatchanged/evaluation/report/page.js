"use strict";
// Captions, references and ids reach the page as text (textContent), pictures as encoded paths: never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const pairs = data.pairs;
const STEP = 40;
const get = (id) => document.getElementById(id);
const list = get("list");
let shown = [];
let drawn = 0;

pairs.forEach((pair, place) => {
  pair.place = place;
  pair.text = [pair.id, pair.caption, pair.error || "", ...pair.references].join("\n").toLowerCase();
});

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// "a12c3": twelve times level 0, three times level 2, of 16.
function levels(code) {
  const found = [];
  for (const [, letter, count] of code.matchAll(/([a-p])(\d*)/g)) {
    const level = letter.charCodeAt(0) - 97;
    for (let i = 0; i < (count ? Number(count) : 1); i++) found.push(level);
  }
  return found;
}

function heat(code) {
  const [rows, columns] = data.grid;
  const canvas = make("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  levels(code).forEach((level, i) => {
    image.data.set([...data.colors[level], Math.round((255 * 0.75 * level) / 15)], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

function view(pair, side) {
  const frame = make("div", "view");
  const image = make("img");
  image.loading = "lazy";
  image.alt = side ? "after" : "before";
  image.addEventListener("load", () => {
    const box = pair.boxes && pair.boxes[side];
    if (!box) return;
    const mark = make("div", "box");
    const percent = (value, of) => `${(100 * value) / of}%`;
    mark.style.left = percent(box[0], image.naturalWidth);
    mark.style.top = percent(box[1], image.naturalHeight);
    mark.style.width = percent(box[2], image.naturalWidth);
    mark.style.height = percent(box[3], image.naturalHeight);
    frame.append(mark);
  });
  image.addEventListener("error", () => {
    image.className = "gone";
    image.alt = "no picture at " + decodeURIComponent(pair.pictures[side]);
  });
  image.src = pair.pictures[side];
  frame.append(image);
  if (pair.heat) frame.append(heat(pair.heat[side]));
  return frame;
}

function scores(pair) {
  const line = make("div", "scores");
  line.append(make("span", "", "ROUGE-L " + pair.rouge.toFixed(1)));
  line.append(make("span", "", "CIDEr-D " + pair.cider.toFixed(1)));
  if (pair.no_change !== null) line.append(make("span", "", "no change " + pair.no_change.toFixed(2)));
  if (pair.grade) {
    const kind = { true: "right", false: "wrong", unread: "doubt" }[pair.grade];
    line.append(make("span", kind, { true: "true", false: "not true", unread: "unreadable" }[pair.grade]));
    for (const fault of pair.faults) line.append(make("span", "wrong", fault));
  }
  return line;
}

function card(pair) {
  const article = make("article");
  const head = make("div", "head");
  head.append(make("span", "id", pair.id));
  if (pair.type) head.append(make("span", "", pair.type));
  if (pair.overlap !== null) head.append(make("span", "", "overlap of views " + pair.overlap.toFixed(2)));
  article.append(head);
  if (pair.pictures) {
    const pictures = make("div", "pictures");
    pictures.append(view(pair, 0), view(pair, 1));
    article.append(pictures);
  }
  const nothing = pair.error ? "failed: " + pair.error : "(says nothing)";
  article.append(make("p", pair.caption ? "said" : "said none", pair.caption || nothing));
  article.append(scores(pair));
  const references = make("ul", "references");
  for (const text of pair.references) references.append(make("li", "", text));
  article.append(references);
  return article;
}

function draw() {
  const next = shown.slice(drawn, drawn + STEP);
  list.append(...next.map(card));
  drawn += next.length;
}

const grades = { false: 0, unread: 1, true: 2 };
const orders = {
  cider: (a, b) => a.cider - b.cider || a.rouge - b.rouge,
  rouge: (a, b) => a.rouge - b.rouge || a.cider - b.cider,
  grade: (a, b) => (grades[a.grade] ?? 3) - (grades[b.grade] ?? 3) || a.cider - b.cider,
  place: () => 0,
};

function choose() {
  const words = get("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const type = get("type").value;
  const grade = get("grade").value;
  shown = pairs.filter(
    (pair) =>
      (!type || pair.type === type) &&
      (!grade || pair.grade === grade) &&
      words.every((word) => pair.text.includes(word)),
  );
  const order = orders[get("order").value];
  shown.sort((a, b) => order(a, b) || a.place - b.place);
  get("count").textContent = `${shown.length.toLocaleString("en")} of ${pairs.length.toLocaleString("en")} pairs`;
  list.replaceChildren();
  drawn = 0;
  draw();
}

for (const type of new Set(pairs.map((pair) => pair.type).filter(Boolean))) {
  const option = make("option", "", type);
  option.value = type;
  get("type").append(option);
}
for (const id of ["type", "grade", "order"]) get(id).addEventListener("change", choose);
get("text").addEventListener("input", choose);
get("heat").addEventListener("change", (event) => document.body.classList.toggle("cold", !event.target.checked));
get("boxes").addEventListener("change", (event) => document.body.classList.toggle("plain", !event.target.checked));
get("type").hidden = !pairs.some((pair) => pair.type);
get("grade").hidden = !pairs.some((pair) => pair.grade);
get("order").querySelector("[value=grade]").hidden = get("grade").hidden;
get("heat").parentElement.hidden = !pairs.some((pair) => pair.heat);
get("boxes").parentElement.hidden = !pairs.some((pair) => pair.boxes);
new IntersectionObserver((seen) => seen.some((entry) => entry.isIntersecting) && draw(), {
  rootMargin: "1200px",
}).observe(get("more"));
choose();
