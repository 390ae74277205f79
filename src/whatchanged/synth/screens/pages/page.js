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

  // Not image.decode(): from a picture that is decoded ahead a smaller one is made with slightly other levels, as
  // long as it is kept.
  function loaded(image) {
    return image.complete || new Promise((done) => (image.onload = image.onerror = done));
  }

  async function settled() {
    const waiting = [...document.body.querySelectorAll("*")].map((e) => e.updateComplete).filter(Boolean);
    await Promise.all(waiting);
    await Promise.all([...document.images].map(loaded));
    document.body.getBoundingClientRect(); // laid out, so that every font that is needed is asked for
    await document.fonts.ready;
  }

  // Pictures that style sheets name are fetched before they are painted.
  async function fetched() {
    const named = new Set();
    for (const e of [document.body, ...document.body.querySelectorAll("*")])
      for (const side of [null, "::before", "::after"])
        for (const found of getComputedStyle(e, side).backgroundImage.matchAll(/url\("(.*?)"\)/g)) named.add(found[1]);
    const images = [...named].map((address) => Object.assign(new Image(), { src: address }));
    await Promise.all(images.map(loaded));
    screens.kept = images;
  }

  // Two frames of the window in its new size: until then a graphics card may paint in tiles of the old size,
  // and its dithering of gradients begins at other pixels.
  function painted() {
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }

  // Show a document: {body, theme, sheet, own, published, root, bodyClass}; own: without the library's
  // style sheets; published: its style sheets may name pictures.
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
    if (shown.published) await fetched();
    await painted();
    return screens.describe();
  };

  // Names for the elements of a published page, by selectors; then only one part of it is left, or what a window
  // shows from its top on. Tells the HTML that remains.
  screens.name = ({ names, part, top }) => {
    const all = () => [...document.body.querySelectorAll("*")];
    for (const e of all()) delete e.dataset.e;
    for (const [selector, name] of names)
      for (const e of document.body.querySelectorAll(selector)) if (!("e" in e.dataset)) e.dataset.e = name;
    for (const e of all()) {
      if (!e.dataset.e && e.dataset.e !== "" && own_text(e)) e.dataset.e = "text";
      const box = e.getBoundingClientRect();
      if (getComputedStyle(e).display === "none" && e.tagName !== "STYLE") e.remove();
      else if (e.tagName === "IMG" && !e.naturalWidth) stand_in(e, box);
    }
    if (part === null) keep_window(top);
    else keep_part(part);
    for (const e of document.body.querySelectorAll('[data-e=""]')) delete e.dataset.e;
    return document.body.innerHTML;
  };

  // A plain area in place of a picture that is not there.
  function stand_in(image, box) {
    const area = document.createElement("span");
    area.dataset.e = image.dataset.e || "picture";
    area.className = image.className;
    const [width, height] = [box.width, box.height].map((side) => Math.max(side, 24));
    area.style.cssText = `display:inline-block;width:${width}px;height:${height}px;background:linear-gradient(#9ab,#cde)`;
    image.replaceWith(area);
  }

  // What lies in a window that begins at this share of what it does not show.
  function keep_window(top) {
    const start = top * Math.max(0, document.documentElement.scrollHeight - innerHeight);
    const boxes = [...document.body.querySelectorAll("*")].map((e) => [e, e.getBoundingClientRect()]);
    const stays = new Set();
    for (const [e] of boxes)
      if (["fixed", "sticky"].includes(getComputedStyle(e).position))
        for (let up = e; up; up = up.parentElement) stays.add(up);
    for (const [e, box] of boxes)
      if (!stays.has(e) && e.isConnected && !e.closest("svg") && box.height > 0)
        if (box.bottom <= start || box.top > start + innerHeight) e.remove();
  }

  const PLAIN =
    "margin:0!important;padding:0!important;min-height:0!important;height:auto!important;width:auto!important;" +
    "max-width:none!important;position:static!important;float:none!important;transform:none!important;" +
    "opacity:1!important;display:block!important;flex:none!important;visibility:visible!important";

  // One part alone, of a size that people take pictures of; nothing is left beside it.
  function keep_part(share) {
    const fits = (e) => {
      const box = e.getBoundingClientRect();
      return (
        e.closest("svg") === null &&
        box.width >= 40 && box.width <= innerWidth && box.height >= 20 && box.height <= 0.9 * innerHeight &&
        !["TR", "TD", "TH", "TBODY", "THEAD", "OPTION", "STYLE"].includes(e.tagName) &&
        (e.querySelectorAll("[data-e]:not([data-e=''])").length >= 2 || ["button", "banner"].includes(e.dataset.e))
      );
    };
    const parts = [...document.body.querySelectorAll("*")].filter(fits);
    if (!parts.length) return keep_window(0);
    const chosen = parts[Math.floor(share * parts.length)];
    const box = chosen.getBoundingClientRect();
    for (let e = chosen; e !== document.body; e = e.parentElement) {
      for (const beside of [...e.parentElement.childNodes])
        if (beside !== e && beside.nodeName !== "STYLE") beside.remove();
      if (e.parentElement !== document.body) e.parentElement.style.cssText += ";" + PLAIN;
    }
    chosen.style.cssText += `;margin:0!important;position:relative!important;left:0!important;top:0!important;width:${box.width}px!important;visibility:visible!important;transform:none!important;opacity:1!important`;
  }

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
  const number = (text) => parseFloat(text) || 0; // a style of an element that was taken away is empty
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
    for (const e of element.querySelectorAll("svg,img,.w-art,input,.w-switch,.w-spin,.w-avatar")) {
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
        seen: !faded && number(s.opacity) > 0.05,
        leaf: e.children.length === 0,
        text: own_text(e),
        name: name_of(e),
        ground: under,
        color: rgba(s.color),
        fill: rgba(s.backgroundColor),
        svg_fill: s.fill === "none" ? [0, 0, 0, 0] : rgba(s.fill),
        stroke: s.stroke === "none" ? [0, 0, 0, 0] : rgba(s.stroke),
        stroke_width: number(s.strokeWidth),
        picture: s.backgroundImage !== "none",
        border: number(s.borderBottomWidth),
        borders: ["Top", "Right", "Bottom", "Left"].filter((k) => number(s[`border${k}Width`]) > 0.4).length,
        border_color: rgba(s.borderBottomColor),
        radius: number(s.borderTopLeftRadius),
        shadow: s.boxShadow !== "none",
        size: number(s.fontSize),
        weight: number(s.fontWeight),
        italic: s.fontStyle !== "normal",
        underlined: s.textDecorationLine.includes("underline"),
        align: s.textAlign,
        opacity: number(s.opacity),
        padding: [s.paddingTop, s.paddingRight, s.paddingBottom, s.paddingLeft].map(number),
        margin: [s.marginTop, s.marginRight, s.marginBottom, s.marginLeft].map(number),
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
