// The document, word by word: what is in the anchor, what was removed, what was chosen.
// Text only ever becomes text nodes; nothing of a document is read as markup.

export class Reader {
  constructor(element, onWord) {
    this.element = element;
    this.words = [];
    element.addEventListener("click", (event) => {
      const word = event.target.closest(".w");
      if (word) onWord(Number(word.dataset.k));
    });
    element.addEventListener("keydown", (event) => this.key(event, onWord));
  }

  show(explanation) {
    // Offsets count characters as Python does, not UTF-16 units.
    const characters = Array.from(explanation.text);
    const parts = document.createDocumentFragment();
    // Where no word is needed any would do, so that none is marked; but some may carry the label then.
    const needless = explanation.baseline !== null && explanation.baseline.low >= explanation.threshold;
    const anchor = needless ? [] : explanation.positions;
    const carried = new Set(needless ? explanation.removals.flatMap((removal) => removal.positions) : []);
    const kept = new Set(anchor);
    const written = explanation.tokens.map(([start, stop]) => characters.slice(start, stop).join(""));
    const anchors = new Set(anchor.map((k) => written[k].toLowerCase()));
    const total = new Map();
    for (const word of written) {
      const key = word.toLowerCase();
      if (anchors.has(key)) total.set(key, (total.get(key) ?? 0) + 1);
    }
    const seen = new Map();
    this.words = [];
    let end = 0;
    explanation.tokens.forEach(([start, stop], k) => {
      if (start > end) parts.append(characters.slice(end, start).join(""));
      end = stop;
      const word = document.createElement("span");
      const key = written[k].toLowerCase();
      word.className = "w k-s";
      word.dataset.k = k;
      word.tabIndex = k === 0 ? 0 : -1;
      word.setAttribute("role", "button");
      word.append(written[k]);
      if (carried.has(k)) {
        word.classList.add("carried");
        word.dataset.about = "carries the label when more is removed";
      }
      if (anchors.has(key)) {
        seen.set(key, (seen.get(key) ?? 0) + 1);
        word.classList.add(kept.has(k) ? "kept" : "copy");
        word.dataset.about = kept.has(k) ? "in the anchor" : "another occurrence, not needed";
        if (total.get(key) > 1) {
          const nth = document.createElement("sup");
          nth.className = "k-nth";
          nth.append(`${seen.get(key)}/${total.get(key)}`);
          word.append(nth);
        }
      }
      this.words.push(word);
      parts.append(word);
    });
    parts.append(characters.slice(end).join(""));
    // One child only: with dir="auto" a browser works out the direction again for every child.
    const page = document.createElement("div");
    page.append(parts);
    this.element.replaceChildren(page);
    this.written = written;
  }

  // One way of shading: a class of the style sheet and a value for each word.
  shade(view) {
    this.words.forEach((word, k) => {
      word.className = word.className.replace(/ ?\bs0[pn]\d\b/g, "");
      if (view?.marks[k]) word.classList.add(view.marks[k]);
      const told = word.dataset.about ?? "";
      const value = view ? `${view.name}: ${view.values[k]}` : "";
      word.title = [told, value].filter(Boolean).join("\n");
    });
  }

  mark(removed, chosen) {
    this.words.forEach((word, k) => {
      word.classList.toggle("removed", removed.has(k));
      word.classList.toggle("chosen", chosen.has(k));
      word.setAttribute("aria-pressed", removed.has(k) || chosen.has(k));
    });
  }

  named(positions) {
    return [...positions].sort((a, b) => a - b).map((k) => `“${this.written[k]}”`);
  }

  key(event, onWord) {
    const word = event.target.closest(".w");
    if (!word) return;
    const k = Number(word.dataset.k);
    const steps = { ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: this.words.length - 1 };
    if (event.key === "Enter" || event.key === " ") {
      onWord(k);
    } else if (event.key in steps) {
      const next = this.words[steps[event.key]];
      if (!next) return;
      word.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}
