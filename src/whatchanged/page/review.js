// Reviewing: pairs are accepted and rejected by keys and buttons, kept in the browser, and saved as a file.
const REVIEW = data.review;
const LETTERS = { accept: "a", reject: "r" };
const WORDS = { a: "accept", r: "reject" };
const DECIDED = { accept: "accepted", reject: "rejected" };
const decisions = pairs.map(() => ""); // by place: "", "accept" or "reject"
const past = []; // what each step changed: [place, what was decided before]

function restoreDecisions() {
  const letters = kept.get(`review-${REVIEW.report}`) ?? "";
  if (letters.length !== pairs.length) return;
  [...letters].forEach((letter, place) => (decisions[place] = WORDS[letter] ?? ""));
}

function keepDecisions() {
  kept.set(`review-${REVIEW.report}`, decisions.map((decision) => LETTERS[decision] ?? ".").join(""));
}

const canBe = (pair, decision) => decision !== "accept" || !pair.fixed;
const isLeft = (place) => !decisions[place];

// Decide pairs by their places; what cannot be so decided stays as it is. One step for undo.
function decide(places, decision) {
  const changed = places.filter((place) => decisions[place] !== decision && canBe(pairs[place], decision));
  if (!changed.length) return;
  past.push(changed.map((place) => [place, decisions[place]]));
  for (const place of changed) decisions[place] = decision;
  showDecisions(changed);
}

function undo() {
  const steps = past.pop();
  if (!steps) return;
  for (const [place, before] of steps) decisions[place] = before;
  showDecisions(steps.map(([place]) => place));
  const card = list.querySelector(`article[data-place="${steps[0][0]}"] .look`);
  if (!viewer.open && steps.length === 1) card?.focus();
}

// What was decided shows on the cards that are drawn, the headings, the viewer and the bar; the list stays as it is.
function showDecisions(places) {
  keepDecisions();
  const changed = new Set(places);
  for (const card of list.querySelectorAll("article")) {
    if (changed.has(Number(card.dataset.place))) showDecision(card, Number(card.dataset.place));
  }
  for (const row of list.querySelectorAll(".group-review")) row.update();
  if (viewer.open) showDecision(get("viewer-review"), current.place);
  showProgress();
}

function showDecision(element, place) {
  element.dataset.decision = decisions[place];
  for (const choice of element.querySelectorAll("[data-choice]")) {
    choice.setAttribute("aria-pressed", String(choice.dataset.choice === decisions[place]));
    choice.disabled = !canBe(pairs[place], choice.dataset.choice);
    choice.title = choice.disabled ? `not possible: ${pairs[place].fixed}` : `key ${LETTERS[choice.dataset.choice]}`;
  }
}

// Two buttons for one pair; pressed again, one takes the decision back. pair: a function that gives it.
function choiceButtons(pair) {
  return ["accept", "reject"].map((choice) => {
    const word = choice === "accept" ? "Accept" : "Reject";
    const made = button(`choice ${choice}`, word, () => {
      const { place } = pair();
      decide([place], decisions[place] === choice ? "" : choice);
    });
    made.dataset.choice = choice;
    return made;
  });
}

function pairReview(pair) {
  if (!REVIEW) return null;
  const row = make("div", "pair-review", ...choiceButtons(() => pair));
  for (const choice of row.children) choice.setAttribute("aria-label", `${choice.textContent} ${pair.id}`);
  return row;
}

// The members of a group that can be decided together: those with more than the group shares are looked at alone.
const together = (group, decision) =>
  group.members.filter((place) => isLeft(place) && !group.odd.has(place) && canBe(pairs[place], decision));

function groupReview(group) {
  if (!REVIEW) return null;
  const choices = ["accept", "reject"].map((choice) => button(`choice ${choice}`, "", () => decide(together(group, choice), choice)));
  const state = make("span", "note");
  const row = make("div", "group-review", ...choices, state, group.command ? commandLine(group.command) : null);
  row.update = () => {
    choices.forEach((choice, at) => {
      const count = together(group, at ? "reject" : "accept").length;
      choice.textContent = `${at ? "Reject" : "Accept"} ${count.toLocaleString("en")}`;
      choice.disabled = !count;
    });
    const odd = group.members.filter((place) => group.odd.has(place) && isLeft(place)).length;
    state.textContent = odd ? `${odd.toLocaleString("en")} to look at alone` : "";
  };
  row.update();
  return row;
}

function commandLine(text) {
  const copy = button("copy", "Copy", () => {
    copyText(text);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  });
  copy.setAttribute("aria-label", `Copy: ${text}`);
  return make("span", "command", make("code", "", text), copy);
}

// A page that is a file may not write to the clipboard by itself; what is selected may be copied.
function copyText(text) {
  const area = make("textarea", "aside", text);
  (viewer.open ? viewer : document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function showProgress() {
  const counts = { accept: 0, reject: 0, "": 0 };
  for (const decision of decisions) counts[decision] += 1;
  const [accepted, rejected, left] = [counts.accept, counts.reject, counts[""]].map((count) => count.toLocaleString("en"));
  get("progress").textContent = `${accepted} accepted, ${rejected} rejected, ${left} left`;
  get("undo").disabled = !past.length;
  get("left").disabled = !counts[""];
  get("save").disabled = counts[""] === pairs.length;
}

// Whether a pair is among those that the filter by decision shows.
function fitsDecision(pair) {
  const wanted = REVIEW ? get("decision").value : "";
  if (!wanted) return true;
  return wanted === "left" ? isLeft(pair.place) : DECIDED[decisions[pair.place]] === wanted;
}

function askLeft() {
  const places = shown.filter(isLeft);
  const fixed = places.filter((place) => pairs[place].fixed).length;
  const odd = groups.flatMap((group) => places.filter((place) => group.odd.has(place))).length;
  if (!places.length) return;
  const facts = [shown.length < pairs.length ? "Of what is listed now." : ""];
  if (odd) facts.push(`${counted(odd, "pair")} of them show more than the group shares.`);
  if (fixed) facts.push(`${counted(fixed, "pair")} of them cannot be accepted, such as removed pictures; they stay left.`);
  get("left-title").textContent = `${counted(places.length, "pair")} left`;
  get("left-facts").textContent = facts.filter(Boolean).join(" ");
  get("left-dialog").showModal();
}

function decideLeft(decision) {
  get("left-dialog").close();
  decide(shown.filter(isLeft), decision);
}

function savedDecisions() {
  const named = (decision) => pairs.filter((pair) => decisions[pair.place] === decision).map((pair) => pair.id);
  const content = { format: 1, report: REVIEW.report, saved: new Date().toISOString(), accept: named("accept"), reject: named("reject") };
  return JSON.stringify(content, null, 1) + "\n";
}

function saveDecisions() {
  const link = make("a", "");
  link.href = URL.createObjectURL(new Blob([savedDecisions()], { type: "application/json" }));
  link.download = "decisions.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The pair that a key means: that of the viewer, or of the card in which the focus is.
function pairAtHand() {
  if (viewer.open) return current;
  const card = document.activeElement.closest("article");
  return card ? pairs[Number(card.dataset.place)] : null;
}

function groupAtHand() {
  const heading = document.activeElement.closest(".group, .group-review");
  if (heading && !viewer.open) return groups[Number(heading.dataset.group)];
  const pair = pairAtHand();
  return pair ? groups.find((group) => group.members.includes(pair.place)) : null;
}

function decideAtHand(decision) {
  const pair = pairAtHand();
  if (!pair) {
    moveFocus(1);
    return;
  }
  decide([pair.place], decision);
  if (viewer.open) step(1);
  else moveFocus(1);
}

// Keys of the list and the viewer alike; whether it was one of them. shift: of the whole group.
function reviewKey(key, shift) {
  if (!REVIEW) return false;
  const decision = WORDS[key];
  if (decision && shift) {
    const group = groupAtHand();
    if (group) decide(together(group, decision), decision);
  } else if (decision) decideAtHand(decision);
  else if (key === "u") undo();
  else if (key === "l" && !viewer.open) askLeft();
  else if (key === "s") saveDecisions();
  else if (key === "f" && !viewer.open) {
    get("decision").selectedIndex = (get("decision").selectedIndex + 1) % get("decision").options.length;
    choose();
  } else return false;
  return true;
}

function startReview() {
  if (!REVIEW) return;
  restoreDecisions();
  get("decision").addEventListener("change", choose);
  get("undo").addEventListener("click", undo);
  get("left").addEventListener("click", askLeft);
  get("save").addEventListener("click", saveDecisions);
  get("left-accept").addEventListener("click", () => decideLeft("accept"));
  get("left-reject").addEventListener("click", () => decideLeft("reject"));
  get("left-dialog").addEventListener("keydown", (event) => {
    const decision = WORDS[event.key.toLowerCase()];
    if (decision && !event.ctrlKey && !event.metaKey && !event.altKey) decideLeft(decision);
  });
  get("viewer-review").append(...choiceButtons(() => current));
  get("then").append(REVIEW.command ? commandLine(REVIEW.command) : REVIEW.why);
  showProgress();
}
