// What runs in the page: a document is loaded, changed, put back and described as data.
(() => {
  const screens = { body: "", elements: [] };
  window.screens = screens;

  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  // A computed colour as [red, green, blue, opacity].
  function rgba(text) {
    if (!known.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = "rgba(0,0,0,0)";
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(text, [r, g, b, a / 255]);
    }
    return known.get(text);
  }
  function over(top, bottom) {
    return [0, 1, 2].map((k) => Math.round(top[k] * top[3] + bottom[k] * (1 - top[3])));
  }
  // The colour on which an element stands.
  function ground(element) {
    const layers = [];
    for (let e = element.parentElement; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      layers.push(color);
      if (color[3] > 0.99) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  }

  async function settled() {
    const waiting = [...document.body.querySelectorAll("*")].map((e) => e.updateComplete).filter(Boolean);
    await Promise.all(waiting);
    await document.fonts.ready;
  }

  // Two frames of the window in its new size: until then a graphics card may paint in tiles of the old size,
  // and its dithering of gradients begins at other pixels.
  function painted() {
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }

  // Show a document: {body, theme, sheet, own, root, bodyClass}; own: without the library's style sheets.
  screens.load = async (shown) => {
    const root = document.documentElement;
    for (const sheet of document.styleSheets) if (sheet.ownerNode.tagName === "LINK") sheet.disabled = shown.own;
    document.getElementById("w-sheet").textContent = shown.sheet;
    for (const attribute of [...root.attributes]) root.removeAttribute(attribute.name);
    for (const [name, value] of Object.entries(shown.root)) root.setAttribute(name, value);
    root.style.cssText = shown.theme;
    document.body.className = shown.bodyClass;
    screens.root = root.style.cssText;
    screens.body = shown.body;
    await screens.reset();
    await painted();
    return screens.describe();
  };

  // Put the document back as it was loaded.
  screens.reset = async () => {
    document.documentElement.style.cssText = screens.root;
    document.body.removeAttribute("style");
    document.body.innerHTML = screens.body;
    await settled();
    document.body.dataset.e = "page";
    screens.elements = [document.body, ...document.body.querySelectorAll("[data-e]")];
    screens.texts = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) screens.texts.set(walker.currentNode, screens.texts.size);
  };

  // Do something to the document, and describe it as it is then.
  screens.change = async (script) => {
    new Function(script)();
    await settled();
    return screens.describe();
  };

  // Make an element from HTML at a place beside or in another; it becomes the last of the elements.
  screens.insert = (index, where, html) => {
    const target = index < 0 ? document.body : screens.elements[index];
    target.insertAdjacentHTML(where, html);
    const made = {
      beforebegin: () => target.previousElementSibling,
      afterend: () => target.nextElementSibling,
      afterbegin: () => target.firstElementChild,
      beforeend: () => target.lastElementChild,
    }[where]();
    screens.elements.push(made);
    return made;
  };

  function own_text(element) {
    return [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent).join(" ").trim();
  }
  function name_of(element) {
    const label = element.getAttribute("aria-label");
    const text = label || element.value || element.getAttribute("placeholder") || element.textContent || "";
    return String(text).replace(/\s+/g, " ").trim().slice(0, 80);
  }
  const union = (boxes) =>
    boxes.length
      ? [
          Math.min(...boxes.map((b) => b[0])),
          Math.min(...boxes.map((b) => b[1])),
          Math.max(...boxes.map((b) => b[2])),
          Math.max(...boxes.map((b) => b[3])),
        ]
      : null;
  const ends = (r) => [r.left, r.top, r.right, r.bottom];
  const range = document.createRange();
  // The box around the texts, icons and pictures in an element.
  function ink_of(element) {
    const found = [];
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (!walker.currentNode.textContent.trim()) continue;
      range.selectNodeContents(walker.currentNode);
      for (const r of range.getClientRects()) if (r.width > 0.5) found.push(ends(r));
    }
    for (const e of element.querySelectorAll("svg,.w-art,input,.w-switch,.w-spin,.w-avatar")) {
      const box = ends(e.getBoundingClientRect());
      if (box[2] > box[0]) found.push(box);
    }
    return union(found);
  }

  // Every named element with its boxes, text and style, in the order of the document.
  screens.describe = () => {
    const order = new Map(screens.elements.map((e, i) => [e, i]));
    const elements = screens.elements.map((e, i) => {
      const s = getComputedStyle(e);
      const box = ends(e.getBoundingClientRect());
      let parent = e.parentElement;
      while (parent && !order.has(parent)) parent = parent.parentElement;
      const faded = !e.isConnected || s.visibility === "hidden" || s.display === "none" || box[2] - box[0] < 0.5;
      const under = ground(e);
      return {
        i,
        element: e.dataset ? e.dataset.e || "" : "",
        tag: e.tagName.toLowerCase(),
        parent: parent ? order.get(parent) : -1,
        box,
        ink: faded ? null : ink_of(e),
        seen: !faded && parseFloat(s.opacity) > 0.05,
        leaf: e.children.length === 0,
        text: own_text(e),
        name: name_of(e),
        ground: under,
        color: rgba(s.color),
        fill: rgba(s.backgroundColor),
        svg_fill: s.fill === "none" ? [0, 0, 0, 0] : rgba(s.fill),
        stroke: s.stroke === "none" ? [0, 0, 0, 0] : rgba(s.stroke),
        stroke_width: parseFloat(s.strokeWidth) || 0,
        picture: s.backgroundImage !== "none",
        border: parseFloat(s.borderBottomWidth),
        borders: ["Top", "Right", "Bottom", "Left"].filter((k) => parseFloat(s[`border${k}Width`]) > 0.4).length,
        border_color: rgba(s.borderBottomColor),
        radius: parseFloat(s.borderTopLeftRadius) || 0,
        shadow: s.boxShadow !== "none",
        size: parseFloat(s.fontSize),
        weight: parseFloat(s.fontWeight),
        italic: s.fontStyle !== "normal",
        underlined: s.textDecorationLine.includes("underline"),
        align: s.textAlign,
        opacity: parseFloat(s.opacity),
        padding: [s.paddingTop, s.paddingRight, s.paddingBottom, s.paddingLeft].map(parseFloat),
        margin: [s.marginTop, s.marginRight, s.marginBottom, s.marginLeft].map((m) => parseFloat(m) || 0),
        display: s.display,
        checked: e.checked === true || (e.classList ? e.classList.contains("w-on") : false),
        disabled: e.disabled === true,
        look: `${e.tagName}.${e.getAttribute("class") || ""}.${e.dataset ? e.dataset.e : ""}`,
      };
    });
    const content = document.body.getBoundingClientRect();
    return JSON.stringify({ elements, words: screens.words(), bottom: content.bottom, right: content.right });
  };

  // Every word as [number of its text, number in it, left, top, right, bottom]; texts keep their numbers.
  screens.words = () => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (!screens.texts.has(node)) screens.texts.set(node, screens.texts.size);
      let place = 0;
      for (const word of node.textContent.matchAll(/\S+/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        found.push([screens.texts.get(node), place++, ...ends(range.getBoundingClientRect())]);
      }
    }
    return found;
  };
})();
