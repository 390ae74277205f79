// The viewer: one pair, large, in one of several views.
const MODES = ["before", "after", "side by side", "blink", "slider", "overlay", "difference"];
if (pairs.some((pair) => pair.words)) MODES.push("words");
const WORDS_ACROSS = 5;
const RANGES = {
  slider: { name: "After from", min: 0, max: 100, step: 1, start: 50, shown: (value) => `${value} %` },
  overlay: { name: "After", min: 0, max: 100, step: 1, start: 50, shown: (value) => `${value} %` },
  difference: { name: "Amplified", min: 0, max: 6, step: 1, start: 3, shown: (value) => `${2 ** value} times` },
};
const BLINK = 600; // milliseconds a picture: well below three flashes a second
const viewer = get("viewer");
const stage = get("stage");
let current = null; // the pair that is shown
let mode = "side by side";
let timer = null;
let flipped = false; // blink: whether the picture after is shown
const chosen = Object.fromEntries(Object.entries(RANGES).map(([name, range]) => [name, range.start]));

function openViewer(place, asked) {
  current = pairs[place];
  if (asked) mode = asked;
  if (!viewer.open) viewer.showModal();
  showPair();
  stage.focus();
}

// A file's name that is not UTF-8 holds halves of surrogate pairs, which no address can.
const addressOf = (pair) => "#" + encodeURIComponent(pair.id.replace(/\p{Surrogate}/gu, "\ufffd"));

function showPair() {
  const at = shown.indexOf(current.place);
  get("viewer-name").replaceChildren(make("span", "id", current.id), ...badges(current));
  get("viewer-place").textContent = at < 0 ? "" : `${(at + 1).toLocaleString("en")} of ${shown.length.toLocaleString("en")}`;
  get("previous").disabled = at <= 0;
  get("next").disabled = at < 0 || at >= shown.length - 1;
  if (REVIEW) showDecision(get("viewer-review"), current.place);
  const several = current.changes.length > 1 || current.changes[0]?.sentence !== current.caption;
  // What was read stands beside the pictures where the sentence quotes only its first words.
  const readOf = ({ sentence, read = [] }) => read.filter((text) => !sentence.includes(text));
  const told = (several || current.changes.some((change) => readOf(change).length) ? current.changes : []).map((change) => {
    const kind = change.kind ? make("span", "kind", change.kind) : null;
    const read = readOf(change).map((text) => make("q", "read", text));
    return make("li", "", kind, change.sentence, ...read);
  });
  const parts = [said(current), told.length ? make("ol", "changes", ...told) : null];
  if (current.references) parts.push(make("p", "note", "References"), references(current));
  get("words").replaceChildren(...[...parts, remarks(current)].filter(Boolean));
  history.replaceState(null, "", addressOf(current));
  showMode();
}

function showMode() {
  const sides = sidesOf(current);
  const both = sides.length === 2;
  const only = SIDES[sides[0]] ?? "";
  const view = mode === "words" && !current.words ? "side by side" : mode;
  for (const input of get("modes").querySelectorAll("input")) {
    input.disabled = (!both && input.value !== only) || (input.value === "words" && !current.words);
    input.checked = both ? input.value === view : !input.disabled;
  }
  stage.className = both ? view.replaceAll(" ", "-") : only;
  const single = { before: [[0]], after: [[1]], "side by side": [[0], [1]] }[view] ?? [[0, 1]];
  const frames = (both ? single : sides.map((side) => [side])).map((shownSides) => frame(current, shownSides, false));
  stage.replaceChildren(...(both && view === "words" ? current.words.map(wordFigure) : frames));
  flipped = false;
  showRange(both);
  blink(both && mode === "blink" && !REDUCED);
  resize();
  const box = firstBox(current);
  if (box && frames.length) stage.scrollTo(0, ((box[1] + box[3]) / 2) * scaleOf(frames[0]) - stage.clientHeight / 2);
}

// Both pictures with where one word looked, the word as their title.
function wordFigure(word) {
  const frames = [0, 1].map((side) => frame(current, [side], false, word));
  return make("figure", "word", make("figcaption", "", word.word), ...frames);
}

function showRange(both) {
  const range = both ? RANGES[mode] : undefined;
  get("range-label").hidden = !range;
  if (!range) return;
  get("range-name").textContent = range.name;
  for (const name of ["min", "max", "step"]) get("range")[name] = range[name];
  get("range").value = chosen[mode];
  applyRange();
}

function applyRange() {
  const value = Number(get("range").value);
  chosen[mode] = value;
  get("range-value").textContent = RANGES[mode].shown(value);
  stage.style.setProperty("--part", value / 100);
  stage.style.setProperty("--times", 2 ** value);
}

function blink(running) {
  clearInterval(timer);
  timer = running ? setInterval(flip, BLINK) : null;
  get("pause").hidden = stage.className !== "blink";
  get("pause").textContent = running ? "Pause" : "Go on";
  showFlip();
}

function flip() {
  flipped = !flipped;
  showFlip();
}

function showFlip() {
  stage.classList.toggle("flipped", flipped);
}

// Fit: whole where it can be seen, else as wide as the stage; small pictures grow by whole numbers.
function fitScale(width, height, frames) {
  const wide = (stage.clientWidth - 16 * (frames + 1)) / frames / width;
  const whole = Math.min(wide, (stage.clientHeight - 48) / height);
  const scale = whole < 0.3 ? Math.min(wide, 1) : whole;
  return scale > 1 ? Math.min(Math.floor(scale), 4) : scale;
}

function scaleOf(element) {
  return element.clientWidth / sheetSize(current)[0];
}

function resize() {
  if (!viewer.open || !current) return;
  const frames = [...stage.querySelectorAll(".frame")];
  const [width, height] = sheetSize(current);
  if (!current.sizes.some(Boolean)) return;
  const columns = innerWidth < 640 ? 1 : stage.className === "words" ? WORDS_ACROSS : frames.length;
  const scale = get("zoom").value === "fit" ? fitScale(width, height, columns) : Number(get("zoom").value);
  for (const element of frames) element.style.width = `${Math.max(1, Math.round(width * scale))}px`;
  stage.classList.toggle("pixels", scale >= 2);
}

function step(by) {
  const next = shown[shown.indexOf(current.place) + by];
  if (next === undefined) return;
  current = pairs[next];
  showPair();
}

function setMode(name) {
  if (sidesOf(current).length < 2) return;
  mode = name;
  showMode();
}

function zoom(by) {
  const select = get("zoom");
  select.selectedIndex = by === 0 ? 0 : Math.max(0, Math.min(select.options.length - 1, select.selectedIndex + by));
  resize();
}

function flipByHand() {
  if (mode === "before" || mode === "after") setMode(mode === "before" ? "after" : "before");
  else {
    if (mode !== "blink") setMode("blink");
    blink(false);
    flip();
  }
}

function toggle(id) {
  if (get("with-" + id).hidden) return;
  get(id).checked = !get(id).checked;
  toggleMarks(id);
}

function viewerKey(key) {
  const ranging = document.activeElement === get("range");
  const number = Number(key);
  if (number >= 1 && number <= MODES.length) setMode(MODES[number - 1]);
  else if (key === " " && document.activeElement.tagName !== "BUTTON") flipByHand();
  else if (key === "j" || (key === "ArrowRight" && !ranging)) step(1);
  else if (key === "k" || (key === "ArrowLeft" && !ranging)) step(-1);
  else if (key === "+" || key === "=") zoom(1);
  else if (key === "-") zoom(-1);
  else if (key === "0") zoom(0);
  else return false;
  return true;
}

function moveFocus(by) {
  const here = document.activeElement.closest("article")?.querySelector(".look") ?? document.activeElement;
  let looks = [...list.querySelectorAll(".look")];
  const at = looks.indexOf(here);
  if (at + by >= looks.length && drawn < entries.length) {
    draw(STEP);
    looks = [...list.querySelectorAll(".look")];
  }
  const next = looks[at < 0 ? 0 : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "center" });
}

function listKey(key) {
  if (key === "/") get("text").focus();
  else if (key === "j") moveFocus(1);
  else if (key === "k") moveFocus(-1);
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  const inDialog = document.querySelector("dialog[open]:not(#viewer)");
  if (event.ctrlKey || event.metaKey || event.altKey || inDialog) return;
  const target = event.target;
  const typing = target instanceof Element && target.matches("select, input[type=search]");
  if (typing) {
    if (event.key === "Escape" && target === get("text")) target.blur();
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  let done = true;
  if (key === "?") get("help").showModal();
  else if (key === "b") toggle("boxes");
  else if (key === "w") toggle("outlines");
  else if (!reviewKey(key, event.shiftKey)) done = viewer.open ? viewerKey(key) : listKey(key);
  if (done) event.preventDefault();
});

// In the slider's view the pictures themselves can be dragged on.
stage.addEventListener("pointermove", (event) => {
  if (mode !== "slider" || !event.buttons) return;
  const sheet = stage.querySelector(".sheet").getBoundingClientRect();
  get("range").value = (100 * (event.clientX - sheet.left)) / sheet.width;
  applyRange();
});

MODES.forEach((name, number) => {
  const input = make("input", "");
  input.type = "radio";
  input.name = "mode";
  input.value = name;
  input.addEventListener("change", () => setMode(name));
  const label = make("label", "", input, make("span", "", name));
  label.title = `key ${number + 1}`;
  get("modes").append(label);
});
get("range").addEventListener("input", applyRange);
get("zoom").addEventListener("change", resize);
get("pause").addEventListener("click", () => blink(timer === null));
get("previous").addEventListener("click", () => step(-1));
get("next").addEventListener("click", () => step(1));
get("close").addEventListener("click", () => viewer.close());
get("keys").addEventListener("click", () => get("help").showModal());
viewer.addEventListener("close", () => {
  blink(false);
  history.replaceState(null, "", "#");
  const card = list.querySelector(`article[data-place="${current.place}"] .look`);
  card?.focus();
});
stage.addEventListener("load", resize, true);
addEventListener("resize", () => {
  resize();
  fill();
});
for (const id of ["boxes", "outlines"]) get(id).addEventListener("change", () => toggleMarks(id));
get("text").addEventListener("input", choose);
get("order").addEventListener("change", choose);
makeLegend();
startReview();
choose();
addEventListener("scroll", fill, { passive: true });
const asked = pairs.find((pair) => addressOf(pair) === location.hash);
if (asked) openViewer(asked.place);
