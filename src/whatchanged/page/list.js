// The list: groups or another order, searched and filtered, drawn a few pairs at a time.
const STEP = 40;
const AHEAD = 1200; // pixels below the window that are drawn before somebody scrolls there
const WHOLE = 24; // groups of up to this many pairs are shown whole,
const PREVIEW = 6; // of larger ones so many, and all that are odd, before somebody asks for the rest
const IN_GROUPS = "in groups";
const list = get("list");
let entries = []; // what is to be drawn: headings, pairs, and buttons for the rest of a group
let drawn = 0;
let grid = null; // where the next pair goes
const modelsAnswer = pairs.some((pair) => pair.answer && pair.answer !== "measured"); // else all say the same
let shown = []; // the pairs in the order of the list, for the viewer

const grouped = new Set(data.groups.flatMap((group) => group.members));
const groups = data.groups.map((group) => ({ ...group, odd: new Set(group.odd), state: group.closed ? "closed" : "part" }));
const rest = pairs.filter((pair) => !grouped.has(pair.place)).map((pair) => pair.place);
if (groups.length && rest.length) {
  groups.push({ sentence: "In no group", members: rest, odd: new Set(), state: "part" });
}

// What pairs can be filtered by: a name, and the values that a pair has.
function makeFacets() {
  const facets = [
    ["verdict", (pair) => (pair.verdict ? [pair.verdict] : [])],
    ["kind", (pair) => pair.changes.map((change) => change.kind).filter(Boolean)],
    ["answer", (pair) => (pair.answer ? [pair.answer] : [])],
  ];
  for (const name of new Set(pairs.flatMap((pair) => Object.keys(pair.tags)))) {
    facets.push([name, (pair) => (name in pair.tags ? [pair.tags[name]] : [])]);
  }
  const made = [];
  for (const [name, values] of facets) {
    const known = new Set(pairs.flatMap(values));
    if (known.size < 2) continue;
    const select = make("select", "");
    select.setAttribute("aria-label", `Only one ${name}`);
    select.append(option("", `any ${name}`), ...[...known].map((value) => option(value, value)));
    select.addEventListener("change", choose);
    get("filters").append(select);
    made.push({ select, values });
  }
  return made;
}

function option(value, text) {
  const element = make("option", "", text);
  element.value = value;
  return element;
}

// Other orders: label -> what gives the places of all pairs; they are sorted when somebody asks.
function makeOrders() {
  const orders = new Map();
  const places = pairs.map((pair) => pair.place);
  if (groups.length) orders.set(IN_GROUPS, () => places);
  for (const order of data.orders) orders.set(order.label, () => order.places);
  orders.set("in order", () => places);
  if (pairs.some((pair) => pair.no_change !== undefined)) {
    const sure = (place) => pairs[place].no_change ?? 2;
    orders.set("surest change first", () => places.toSorted((a, b) => sure(a) - sure(b)));
  }
  const names = new Intl.Collator("en", { numeric: true });
  orders.set("by name", () => places.toSorted((a, b) => names.compare(pairs[a].id, pairs[b].id)));
  get("order").append(...[...orders.keys()].map((label) => option(label, label)));
  return orders;
}

function choose() {
  const words = get("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const asked = facets.filter(({ select }) => select.value);
  const found = new Set();
  for (const pair of pairs) {
    const fits = asked.every(({ select, values }) => values(pair).includes(select.value));
    if (fits && fitsDecision(pair) && words.every((word) => pair.text.includes(word))) found.add(pair.place);
  }
  const narrowed = found.size < pairs.length;
  if (get("order").value === IN_GROUPS) {
    entries = groups.flatMap((group) => groupEntries(group, found, narrowed));
    shown = groups.flatMap((group) => group.members.filter((place) => found.has(place)));
  } else {
    shown = orders.get(get("order").value)().filter((place) => found.has(place));
    entries = shown.map((place) => ({ place }));
  }
  get("count").textContent = `${found.size.toLocaleString("en")} of ${counted(pairs.length, "pair")}`;
  list.replaceChildren();
  drawn = 0;
  grid = null;
  fill();
}

function groupEntries(group, found, narrowed) {
  const members = group.members.filter((place) => found.has(place));
  if (!members.length) return [];
  const state = narrowed && group.state === "part" ? "all" : group.state;
  const part = members.length <= WHOLE ? members.length : Math.max(PREVIEW, group.odd.size);
  const most = { closed: 0, part, all: members.length }[state];
  const heading = { group, count: members.length, open: state !== "closed" };
  const those = members.slice(0, most).map((place) => ({ place, odd: group.odd.has(place) }));
  const left = members.length - most;
  return [heading, ...those, ...(most && left > 0 ? [{ group, left }] : [])];
}

// Draw until the end of the list is well below what is seen.
function fill() {
  while (drawn < entries.length && get("more").getBoundingClientRect().top < innerHeight + AHEAD) draw(STEP);
}

function draw(count) {
  for (const entry of entries.slice(drawn, drawn + count)) {
    if ("count" in entry) list.append(heading(entry), groupRow(entry) ?? "");
    else if ("left" in entry) list.append(remainder(entry));
    else {
      if (!grid) {
        grid = make("div", "grid");
        list.append(grid);
      }
      grid.append(card(pairs[entry.place], entry.odd));
      continue;
    }
    grid = null;
  }
  drawn = Math.min(entries.length, drawn + count);
}

function setState(group, state) {
  group.state = state;
  const before = drawn;
  choose();
  if (before > drawn) draw(before - drawn);
}

function heading({ group, count, open }) {
  const title = button("fold", "", () => {
    setState(group, open ? "closed" : "part");
    document.getElementById(title.id)?.focus();
  });
  title.id = "group-" + groups.indexOf(group);
  title.setAttribute("aria-expanded", String(open));
  const odd = group.members.filter((place) => group.odd.has(place)).length;
  title.append(make("span", "number", counted(count, "pair")), make("span", "shared", group.sentence));
  if (odd) title.append(make("span", "beyond", `${odd.toLocaleString("en")} with more than that, first`));
  const element = make("h2", "group", title);
  element.dataset.group = groups.indexOf(group);
  return element;
}

// Below the heading of an open group: what decides its members together.
function groupRow({ group, open }) {
  const row = open ? groupReview(group) : null;
  if (row) row.dataset.group = groups.indexOf(group);
  return row;
}

function remainder({ group, left }) {
  return button("quiet rest", `Show the other ${left.toLocaleString("en")}`, () => setState(group, "all"));
}

const TONES = { changed: "strong", failed: "bad", doubtful: "doubt" };

function badges(pair) {
  const made = [];
  if (pair.verdict) made.push(make("span", "badge " + (TONES[pair.verdict] ?? "plain"), pair.verdict));
  for (const [text, tone] of pair.badges ?? []) made.push(make("span", "badge " + tone, text));
  if (pair.unfamiliar) made.push(make("span", "badge doubt", "unfamiliar pictures"));
  return made;
}

function said(pair) {
  if (pair.captions) return make("dl", "systems", ...pair.captions.flatMap(system));
  if (pair.caption) return make("p", "said", pair.caption);
  if (pair.error) return make("p", "said none", "failed: " + pair.error);
  return pair.references || pair.answer ? null : make("p", "said none", "(no sentence)");
}

// What one of several systems says: the words that others do not say are marked.
function system({ name, parts, facts }) {
  const words = parts.flatMap(([text, odd], i) => [i ? " " : "", odd ? make("mark", "", text) : text]);
  const sentence = make("span", "", ...(parts.length ? words : ["(no sentence)"]));
  return [make("dt", "", name), make("dd", "", sentence, make("span", "scores", facts.join(", ")))];
}

function remarks(pair) {
  const line = make("p", "facts");
  const facts = [...(pair.facts ?? [])];
  if (pair.no_change !== undefined) facts.push(`no change: ${pair.no_change.toFixed(2)}`);
  if (pair.answer && modelsAnswer) facts.push(pair.answer === "measured" ? "measured" : `said by ${pair.answer}`);
  for (const fact of facts) line.append(make("span", "", fact));
  return facts.length ? line : null;
}

function references(pair) {
  if (!pair.references) return null;
  return make("ul", "references", ...pair.references.map((text) => make("li", "", text)));
}

function card(pair, odd) {
  const look = button("look", "", () => openViewer(pair.place));
  look.setAttribute("aria-label", `Look closely at ${pair.id}`);
  for (const side of sidesOf(pair)) look.append(frame(pair, [side], true));
  look.classList.toggle("single", sidesOf(pair).length === 1);
  const kinds = [...new Set(pair.changes.map((change) => change.kind).filter(Boolean))];
  const chips = make("p", "kinds", ...kinds.map((kind) => make("span", "", kind)));
  const name = make("h3", "", make("span", "id", pair.id), ...badges(pair));
  if (odd) name.append(make("span", "badge doubt", "more than its group"));
  const raw = button("quiet", "Difference", () => openViewer(pair.place, "difference"));
  raw.setAttribute("aria-label", `Difference of the pixels of ${pair.id}`);
  const words = pair.words ? button("quiet", "Word by word", () => openViewer(pair.place, "words")) : null;
  words?.setAttribute("aria-label", `Where each word of ${pair.id} looked`);
  const review = pairReview(pair);
  const foot = make("div", "foot", review, kinds.length ? chips : null, words, sidesOf(pair).length === 2 ? raw : null);
  const article = make("article", "", name, sidesOf(pair).length ? look : null, said(pair), remarks(pair), references(pair), foot);
  article.dataset.place = pair.place;
  if (review) showDecision(article, pair.place);
  return article;
}

function toggleMarks(id) {
  document.body.classList.toggle("no-" + id, !get(id).checked);
}

function makeLegend() {
  const parts = [];
  if (pairs.some((pair) => pair.changes.some((change) => change.boxes.some(Boolean)))) parts.push(["change", "what changed"]);
  if (pairs.some((pair) => pair.boxes)) parts.push(["known", "the known place"]);
  if (pairs.some((pair) => pair.ignored)) parts.push(["ignored", "ignored"]);
  if (pairs.some((pair) => pair.outlines)) {
    data.shares.forEach((share, level) => {
      parts.push(["outline" + level, `${Math.round(100 * share)} % of where the words looked`]);
    });
  }
  for (const [kind, text] of parts) {
    get("legend").append(make("span", "", make("i", "key key-" + kind), text));
  }
  get("legend").hidden = !parts.length;
  const has = (kinds) => parts.some(([kind]) => kinds.some((start) => kind.startsWith(start)));
  get("with-boxes").hidden = !has(["change", "known", "ignored"]);
  get("with-outlines").hidden = !has(["outline"]);
}

const facets = makeFacets();
const orders = makeOrders();
