// Small drawings: the gauge, bars, and Algorithm 1's picture.

import { rounded } from "./numbers.js";

const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.append(text);
  return element;
}

export function gauge(svg, { interval, threshold, baseline }) {
  const at = (share) => 3 + 314 * share;
  const { low, mean, high } = interval;
  const parts = [make("line", { class: "g-track", x1: 3, x2: 317, y1: 11, y2: 11 })];
  if (high - low >= 5e-4) parts.push(make("line", { class: "g-band", x1: at(low), x2: at(high), y1: 11, y2: 11 }));
  parts.push(make("line", { class: "g-goal", x1: at(threshold), x2: at(threshold), y1: 1, y2: 21 }));
  if (baseline != null) parts.push(make("path", { class: "g-base", d: `M${at(baseline.mean)} 5.5l5.5 5.5-5.5 5.5-5.5-5.5z` }));
  parts.push(make("circle", { class: "g-dot", cx: at(mean), cy: 11, r: 6 }));
  parts.push(make("text", { x: 0, y: 30 }, "0"), make("text", { x: 320, y: 30, "text-anchor": "end" }, "1"));
  svg.replaceChildren(...parts);
  svg.setAttribute("aria-label", `Gauge from 0 to 1: precision ${rounded(mean, threshold)}; threshold ${threshold}.`);
}

// The parts of a label, which may be broken between them.
function jointed(name) {
  const parts = String(name).match(/[^_/.-]*[_/.-]|[^_/.-]+$/g) ?? [String(name)];
  return parts.flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
}

export function bars(element, probabilities, label) {
  const classes = [...(probabilities ?? [])].sort((a, b) => b[1] - a[1]);
  const shown = classes.slice(0, 6);
  const more = document.createElement("p");
  more.className = "hint";
  const others = classes.length - shown.length;
  if (others) more.append(`and ${others} other class${others === 1 ? "" : "es"}`);
  element.replaceChildren(
    ...shown.map(([name, value]) => {
      const row = document.createElement("div");
      row.className = "bar";
      const left = document.createElement("span");
      left.append(...jointed(name));
      const right = document.createElement("span");
      right.append(rounded(value));
      const bar = make("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" });
      bar.append(
        make("rect", { class: "b-track", width: 100, height: 4, rx: 1 }),
        make("rect", { class: name === label ? "b-bar mine" : "b-bar", width: 100 * value, height: 4, rx: 1 }),
      );
      row.append(left, bar, right);
      return row;
    }),
    ...(others ? [more] : []),
  );
}

// Each candidate's length against its precision.
export function picture(svg, explanation, words) {
  // Where no word is needed any would do: none is set off.
  const needless = explanation.baseline !== null && explanation.baseline.low >= explanation.threshold;
  const own = needless ? "none" : explanation.positions.join();
  const steps = [...explanation.trace]
    .sort((a, b) => (b.positions.join() === own) - (a.positions.join() === own) || b.interval.mean - a.interval.mean)
    .slice(0, 500);
  const parts = [];
  if (!steps.length) {
    parts.push(make("text", { x: 160, y: 90, "text-anchor": "middle" }, "The search left no trace."));
    svg.replaceChildren(...parts);
    return;
  }
  const base = explanation.baseline?.mean;
  const lengths = steps.map((s) => s.positions.length).concat(base == null ? [] : [0]);
  const shortest = Math.min(...lengths);
  const longest = Math.max(...lengths);
  const lowest = Math.min(explanation.threshold, base ?? 1, ...steps.map((s) => s.interval.mean));
  const floor = Math.max(0, Math.min(Math.floor(lowest * 10) / 10, 0.9));
  const across = (n) => 34 + ((n - shortest + 0.5) / (longest - shortest + 1)) * 282;
  const up = (p) => 156 - Math.max(0, Math.min((p - floor) / (1 - floor), 1)) * 146;
  const step = floor >= 0.9 ? 0.05 : floor >= 0.5 ? 0.1 : 0.2;
  for (let level = 1; level > floor - 1e-9; level -= step) {
    parts.push(
      make("line", { class: "p-axis", x1: 34, x2: 316, y1: up(level), y2: up(level) }),
      make("text", { x: 28, y: up(level) + 4, "text-anchor": "end" }, level.toFixed(2)),
    );
  }
  const every = Math.max(1, Math.floor((longest - shortest + 1) / 8));
  for (let n = shortest; n <= longest; n += every) {
    parts.push(make("text", { x: across(n), y: 172, "text-anchor": "middle" }, String(n)));
  }
  parts.push(make("text", { x: 175, y: 188, "text-anchor": "middle" }, "words kept"));
  const goal = up(explanation.threshold);
  parts.push(make("line", { class: "p-goal", x1: 34, x2: 316, y1: goal, y2: goal }));
  if (base != null) {
    parts.push(make("path", { class: "g-base", d: `M${across(0)} ${up(base) - 5}l5 5-5 5-5-5z` }));
  }
  // Candidates of one length and nearly one precision stand side by side, so that none hides another.
  const layer = (s) => `${s.positions.length}/${Math.floor((s.interval.mean - lowest) / ((1 - lowest || 0.1) / 48))}`;
  const counts = new Map();
  for (const s of steps) counts.set(layer(s), (counts.get(layer(s)) ?? 0) + 1);
  const order = new Map();
  for (const step of steps) {
    const key = layer(step);
    const rank = order.get(key) ?? 0;
    order.set(key, rank + 1);
    const side = Math.ceil(rank / 2) * (rank % 2 ? 1 : -1);
    const x = across(step.positions.length + side * Math.min(0.7 / Math.max(1, counts.get(key) - 1), 0.05));
    const y = up(step.interval.mean);
    const mine = step.positions.join() === own;
    const dot = make("circle", { class: mine ? "p-chosen" : "p-dot", cx: x, cy: y, r: mine ? 4 : 3 });
    const name = step.positions.map((k) => words[k]).join(" · ") || "(nothing)";
    dot.append(make("title", {}, `${name}: ${rounded(step.interval.mean, explanation.threshold)}`));
    parts.push(dot);
    if (mine) parts.push(make("circle", { class: "p-ring", cx: x, cy: y, r: 8 }));
  }
  svg.replaceChildren(...parts);
  svg.setAttribute("aria-label", `Scatter plot of ${steps.length} sets of words: words kept against precision.`);
}
