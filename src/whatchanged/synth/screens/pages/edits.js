// What is done to one element of the page: each function is given its number in `screens.elements`, and values.
// `pages/changes` and `noise.py` call them; a script of theirs is such a call and nothing else.
(() => {
  const screens = window.screens;
  const at = (index) => screens.elements[index];

  // Attributes that hold numbers, as those of marks in charts do.
  const number = (element, name) => parseFloat(element.getAttribute(name));

  screens.edits = {
    // Style properties by name.
    style(index, properties) {
      for (const [name, value] of Object.entries(properties)) at(index).style.setProperty(name, value, "important");
    },

    // Ground and ink of the whole page.
    theme(index, ground, ink) {
      const style = document.documentElement.style;
      style.setProperty("--w-ground", ground);
      style.setProperty("--w-ink", ink);
    },

    // An attribute, such as the width of a mark in a chart.
    attribute(index, name, value) {
      at(index).setAttribute(name, value);
    },

    // Disabled or not, and paler where an opacity is given.
    disabled(index, on, opacity) {
      at(index).disabled = on;
      if (opacity !== null) at(index).style.setProperty("opacity", opacity, "important");
    },

    // Two children of one parent change places.
    order(index, other) {
      const [one, two] = [at(index), at(other)];
      if (one.parentNode !== two.parentNode) return;
      const mark = document.createTextNode("");
      one.replaceWith(mark);
      two.replaceWith(one);
      mark.replaceWith(two);
    },

    // A bar of a chart, higher by so many units; its foot stays.
    bar(index, step) {
      const bar = at(index);
      const height = number(bar, "height") + step;
      bar.setAttribute("y", number(bar, "y") - step);
      bar.setAttribute("height", height);
    },

    // A line of a chart whose values move by this share of its height times each of the steps in turn.
    series(index, share, steps) {
      const points = at(index).getAttribute("points").split(" ").map((point) => point.split(",").map(Number));
      const values = points.map((point) => point[1]);
      const height = Math.max(...values) - Math.min(...values) + 10;
      const moved = points.map((point, k) => [point[0], Math.max(1, point[1] + share * height * steps[k % steps.length])]);
      at(index).setAttribute("points", moved.map((point) => point.join(",")).join(" "));
    },

    // A progress bar or a slider, at so many percent.
    progress(index, percent) {
      const [bar, knob] = at(index).children;
      bar.style.width = `${percent}%`;
      if (knob) knob.style.left = `${percent}%`;
    },

    // The words in an element.
    text(index, words) {
      at(index).textContent = words;
    },

    // The words typed into a field.
    typed(index, words) {
      at(index).value = words;
      at(index).placeholder = "";
    },

    // One more of the same sort after it, with these words in turn; it is the last of the elements.
    repeat(index, words) {
      const copy = at(index).cloneNode(true);
      const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
      let told = 0;
      while (walker.nextNode())
        if (walker.currentNode.textContent.trim()) walker.currentNode.textContent = words[told++ % words.length];
      for (const named of copy.querySelectorAll("[data-e]")) named.removeAttribute("data-e");
      at(index).after(copy);
      screens.elements.push(copy);
    },

    // The letter or the class of another icon; `taken` is the property that tells them apart.
    take(index, other, taken) {
      at(index)[taken] = at(other)[taken];
    },

    // An icon of one path, on a ground of 24 by 24; `inside` is HTML that is put before it.
    icon(index, path, inside) {
      const icon = at(index);
      icon.setAttribute("viewBox", "0 0 24 24");
      const old = [...icon.querySelectorAll("path,use,circle,rect,polygon,polyline,line")];
      const drawn = document.createElementNS("http://www.w3.org/2000/svg", "path");
      drawn.setAttribute("d", path);
      for (const shape of old) shape.remove();
      icon.append(drawn);
      if (inside) icon.insertAdjacentHTML("afterbegin", inside);
    },

    // A switch the other way.
    toggle(index) {
      at(index).classList.toggle("w-on");
    },

    // A box checked, or no longer.
    check(index) {
      at(index).checked = !at(index).checked;
    },

    // Something else in its place, under its name.
    exchange(index, html) {
      const old = at(index);
      old.insertAdjacentHTML("afterend", html);
      const made = old.nextElementSibling;
      made.dataset.e = old.dataset.e;
      old.remove();
      screens.elements[index] = made;
    },
  };
})();
