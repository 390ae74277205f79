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

function mark(className, box, size, label) {
  const element = make("span", "box " + className, label ? make("i", "", label) : null);
  const percent = (value, of) => `${(100 * value) / of}%`;
  element.style.left = percent(box[0], size[0]);
  element.style.top = percent(box[1], size[1]);
  element.style.width = percent(box[2] - box[0], size[0]);
  element.style.height = percent(box[3] - box[1], size[1]);
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

function marks(pair, side) {
  const layer = make("span", "marks side" + side);
  const size = pair.sizes[side];
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
function frame(pair, sides, small) {
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
      const layer = marks(pair, side);
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
