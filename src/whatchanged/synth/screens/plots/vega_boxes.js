// Draws a plot in the page and tells where each of its elements lies, in pixels of the page.
async function drawPlot(spec, renderer, css) {
  const room = document.getElementById("plot");
  room.style.cssText = css;
  const view = new vega.View(vega.parse(spec), { renderer, container: room, hover: false });
  await view.runAsync();
  const found = {};
  let labels = 0;
  const add = (key, box, text, single) => {
    const old = found[key];
    found[key] = old
      ? [Math.min(old[0], box[0]), Math.min(old[1], box[1]), Math.max(old[2], box[2]), Math.max(old[3], box[3]),
         `${old[4]} ${text}`, false]
      : [...box, text, single];
  };
  const boxOf = (item, x, y) => [item.bounds.x1 + x, item.bounds.y1 + y, item.bounds.x2 + x, item.bounds.y2 + y];
  const axisText = (mark, item, box, axis) => {
    const name = axis.orient === "left" ? "y" : "x";
    if (mark.role === "axis-title") return add(`${name} label`, box, item.text, true);
    const text = String(item.text);
    const byName = isNaN(Number(text));
    add(byName ? `category ${item.datum.value}` : `${name} tick ${text}`, box, text, true);
    add(`${name} ticks`, box, text, false);
  };
  const walk = (mark, x, y, axis) => {
    if (mark.marktype === "line" || mark.marktype === "area") {
      const number = mark.name.split(" ")[1];
      add(`series ${number}`, boxOf(mark, x, y), "", false);
      mark.items.forEach((item, place) => {
        const [across, down] = [item.x + x, item.y + y];
        add(`item ${number} ${place}`, [across - 4, down - 4, across + 4, down + 4], "", false);
      });
      return;
    }
    mark.items.forEach((item, place) => {
      if (!item.bounds) return;
      const box = boxOf(item, x, y);
      const number = (mark.name || "").split(" ")[1];
      if (mark.role === "axis-label" || mark.role === "axis-title") axisText(mark, item, box, axis);
      else if (mark.role === "title-text") add("title", box, item.text, true);
      else if (mark.role === "legend-label") add(`legend label ${labels++}`, box, item.text, true);
      else if (mark.role === "legend") add("legend", box, "", false);
      else if (mark.name === "note") add("note", box, item.text, true);
      else if (mark.name === "reference line" || mark.name === "error bars")
        add(mark.name, box, "", false);
      else if (/^(series|markers|whiskers|medians) \d/.test(mark.name || "")) {
        add(`series ${number}`, box, "", false);
        if (mark.name.startsWith("series")) add(`item ${number} ${place}`, box, "", false);
      }
      for (const inner of item.items || [])
        walk(inner, x + (item.x || 0), y + (item.y || 0), axis || item);
    });
  };
  const { left, top } = spec.padding;
  found["plot area"] = [left, top, left + spec.width, top + spec.height, "", false];
  const root = view.scenegraph().root;
  for (const item of root.items)
    for (const mark of item.items) walk(mark, left + (item.x || 0), top + (item.y || 0), null);
  return JSON.stringify(found);
}
