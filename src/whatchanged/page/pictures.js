// Pictures with their marks. A frame holds one sheet, as large as the larger of both pictures, so that all
// frames of a pair have one scale; on the sheet lie the images, and above them the marks of each side.
const SIDES = ["before", "after"];
const TALL = 1.6; // height by width from which a small frame shows a part of the sheet only

function image(pair, side) {
  const source = pair.pictures[side];
  const element = make("img", "side" + side);
  element.loading = "lazy";
  element.decoding = "async";
  element.alt = `${SIDES[side]}: ${source.name}`;
  element.draggable = false;
  element.addEventListener("load", () => {
    const size = [element.naturalWidth, element.naturalHeight];
    if (String(pair.sizes[side]) === String(size)) return;
    pair.sizes[side] = size;
    for (const frame of document.querySelectorAll(`.frame[data-pair="${pair.place}"]`)) frame.layOut();
  });
  element.addEventListener("error", () => element.replaceWith(missing(side, "no picture at " + decoded(source.src))));
  element.src = source.src;
  return element;
}

function decoded(address) {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

const missing = (side, why) => make("span", "gone side" + side, why);

// A box is drawn around its place, not over it, and stays inside the picture.
function mark(className, box, size, label) {
  const element = make("span", "box " + className, label ? make("i", "", label) : null);
  const [left, top, right, bottom] = box;
  const sides = [top / size[1], 1 - right / size[0], 1 - bottom / size[1], left / size[0]];
  element.style.inset = sides.map((part) => `max(0px, calc(${100 * part}% - var(--off)))`).join(" ");
  element.classList.toggle("at-top", top < 0.08 * size[1]);
  return element;
}

function outlineDrawing(paths) {
  const NAMESPACE = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(NAMESPACE, "svg");
  drawing.setAttribute("viewBox", "0 0 1000 1000");
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.setAttribute("aria-hidden", "true");
  for (const rim of [true, false]) {
    paths.forEach((path, level) => {
      if (!path) return;
      const line = document.createElementNS(NAMESPACE, "path");
      line.setAttribute("d", path);
      line.setAttribute("class", rim ? "rim" : "outline" + level);
      drawing.append(line);
    });
  }
  return drawing;
}

// Where one word looked: a pixel a cell, which the browser enlarges without steps.
const LEVELS = 9;

function heat({ columns, levels }, side) {
  const cells = levels[side].replace(/[a-z]/g, (run) => "0".repeat(run.charCodeAt(0) - 96));
  const drawing = make("canvas", "heat");
  drawing.width = columns;
  drawing.height = cells.length / columns;
  const pixels = new ImageData(drawing.width, drawing.height);
  [...cells].forEach((digit, cell) => {
    const level = Number(digit) / LEVELS;
    pixels.data.set([214 + 41 * level, 39 + 182 * level, 40 + 47 * level, 217 * Math.sqrt(level)], 4 * cell);
  });
  drawing.getContext("2d").putImageData(pixels, 0, 0);
  return drawing;
}

function marks(pair, side, word) {
  const layer = make("span", "marks side" + side);
  const size = pair.sizes[side];
  if (word) {
    layer.append(heat(word, side));
    return layer;
  }
  if (pair.outlines) layer.append(outlineDrawing(pair.outlines[side]));
  if (!size) return layer;
  for (const box of pair.ignored ?? []) layer.append(mark("ignored", box, size));
  const known = pair.boxes?.[side];
  if (known) layer.append(mark("known", known, size));
  pair.changes.forEach((change, number) => {
    const box = change.boxes[side];
    if (box) layer.append(mark("change", box, size, pair.changes.length > 1 ? String(number + 1) : ""));
  });
  return layer;
}

// The size of the sheet in pixels of the pictures; a guess until one of them is there.
function sheetSize(pair) {
  const sizes = pair.sizes.filter(Boolean);
  if (!sizes.length) return [3, 2];
  return [Math.max(...sizes.map((size) => size[0])), Math.max(...sizes.map((size) => size[1]))];
}

function firstBox(pair) {
  const boxes = pair.changes.flatMap((change) => change.boxes);
  return [...boxes, ...(pair.boxes ?? [])].find(Boolean);
}

// small: of a pair in the list, which shows a part of a tall picture, around the first change.
// word: of a pair's words the one whose map is shown in place of all other marks.
function frame(pair, sides, small, word) {
  const element = make("span", "frame");
  element.dataset.pair = pair.place;
  if (sides.length === 1) element.dataset.side = SIDES[sides[0]];
  const images = make("span", "images");
  for (const side of sides) {
    const source = pair.pictures[side];
    images.append(source.src ? image(pair, side) : missing(side, source.why));
  }
  const sheet = make("span", "sheet", images);
  element.append(sheet);
  element.layOut = () => {
    const [width, height] = sheetSize(pair);
    element.style.setProperty("--width", width);
    element.style.setProperty("--height", height);
    sheet.style.aspectRatio = `${width} / ${height}`;
    if (small) showPart(element, sheet, pair, width, height);
    for (const old of sheet.querySelectorAll(".marks")) old.remove();
    for (const side of sides) {
      const layer = marks(pair, side, word);
      const own = pair.sizes[side] ?? [width, height];
      for (const part of [layer, images.querySelector(".side" + side)]) {
        if (!part) continue;
        part.style.width = `${(100 * own[0]) / width}%`;
        part.style.height = `${(100 * own[1]) / height}%`;
      }
      sheet.append(layer);
    }
  };
  element.layOut();
  return element;
}

function showPart(element, sheet, pair, width, height) {
  const shown = Math.min(height, TALL * width);
  element.style.aspectRatio = `${width} / ${shown}`;
  const box = firstBox(pair);
  const middle = box ? (box[1] + box[3]) / 2 : 0;
  const start = Math.max(0, Math.min(middle - shown / 2, height - shown));
  sheet.style.marginTop = `${(-100 * start) / width}%`;
  element.classList.toggle("part", shown < height);
}

const sidesOf = (pair) => [0, 1].filter((side) => pair.pictures[side]);
