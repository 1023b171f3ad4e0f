// The workbench: one state, redrawn when the server has answered. No framework, no build step.

import * as api from "./api.js";
import { between, rounded } from "./numbers.js";
import { bars, gauge, picture } from "./picture.js";
import { Reader } from "./reader.js";

const $ = (id) => document.getElementById(id);
const SIGNS = { exact: "=", certified: "✓", audited: "∴", estimated: "≈", not_reached: "!" };
const HINTS = {
  remove: "Click a word to remove it and watch the prediction.",
  choose: "Click words to ask: is this set an anchor?",
};
const DELAY = 350; // milliseconds of quiet before an answer is asked for

const state = { explanation: null, removed: new Set(), chosen: new Set(), mode: "remove", views: [], against: null, rivals: [] };
const running = {}; // one AbortController per kind of question
const reader = new Reader($("reader"), onWord);

function debounced(work, delay) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), delay);
  };
}

// A later question of the same kind replaces an earlier one, on the server too.
async function latest(kind, ask) {
  running[kind]?.abort();
  const own = (running[kind] = new AbortController());
  try {
    return await ask(own.signal);
  } catch (error) {
    if (own.signal.aborted || running[kind] !== own) return null;
    problem(error.message);
    if (kind === "explain" && error.kind === "label") offerLabels();
    return null;
  }
}

function stop(kind) {
  running[kind]?.abort();
  delete running[kind];
}

function problem(message) {
  $("problem").hidden = !message;
  $("problem").textContent = message ?? "";
}

function busy(message) {
  $("busy").hidden = !message;
  if (message) $("busy-text").textContent = message;
  $("result").classList.toggle("stale", Boolean(message));
}

function options() {
  return { text: $("text").value, threshold: Number($("threshold").value) };
}

async function explain() {
  stop("explain");
  stop("predict");
  stop("precision");
  problem(null);
  const asked = { ...options(), method: $("method").value, label: chosenLabel() };
  if ($("harder").checked) asked.keep = "auto";
  // Why not that label: asked about this very text, and no other.
  if (state.against !== null && asked.text === state.explanation?.text) asked.against = state.against;
  else state.against = null;
  if (!asked.text.trim()) {
    busy(null);
    show(null, null);
    return;
  }
  const started = Date.now();
  busy("Working …");
  let own;
  const found = await latest("explain", (signal) => {
    own = signal;
    return api.explain(asked, signal, (message) => {
      if (signal.aborted) return;
      const waited = Math.round((Date.now() - started) / 1000);
      if (message.event === "waiting") busy("Waiting for its turn …");
      else if (message.queries > 1) busy(`${message.queries.toLocaleString("en")} queries, ${waited} s`);
    });
  });
  if (own.aborted) return;
  busy(null);
  if (found) show(found.explanation, found.said);
  else show(null, null, false);
}

// A model with several labels at once must be asked about one of those that hold.
const labels = [];

function chosenLabel() {
  return $("which-field").hidden ? null : (labels[Number($("which").value)] ?? null);
}

async function offerLabels() {
  const found = await latest("predict", (signal) => api.predict({ text: $("text").value }, signal));
  if (!found?.labels.length) return;
  labels.splice(0, labels.length, ...found.labels);
  $("which").replaceChildren(...labels.map((name, i) => new Option(String(name), String(i))));
  $("which-field").hidden = false;
  explain();
}

// An explanation, and what is said about it in words.
function show(e, said, welcome = true) {
  const same = e && state.explanation && e.text === state.explanation.text;
  state.explanation = e;
  $("result").hidden = !e;
  $("empty").hidden = Boolean(e) || !welcome;
  $("get-html").disabled = $("get-json").disabled = !e;
  if (!same) {
    state.removed.clear();
    state.chosen.clear();
  }
  if (!e) return;
  $("headline").textContent = said.headline;
  $("label").textContent = String(e.label);
  $("status").className = `k-status ${said.status}`;
  $("status").textContent = `${SIGNS[said.status]} ${said.status.replace("_", " ")}`;
  bars($("bars"), e.probabilities, e.label);
  reader.show(e);
  $("carried").hidden = !said.carried;
  $("carried").textContent = `Underlined: what carries the label with ${said.carried} removed.`;
  shading(said.views);
  rivals(e);
  const needless = e.baseline !== null && e.baseline.low >= e.threshold;
  const main = needless ? e.baseline : e.interval;
  gauge($("gauge"), { interval: main, threshold: e.threshold, baseline: needless ? null : e.baseline });
  const spread = document.createElement("small");
  if (main.high - main.low >= 5e-4) spread.append(between(main, e.threshold));
  $("precision-of").textContent = needless ? "With no word held in place" : "Precision of the anchor";
  $("precision").replaceChildren(rounded(main.mean, e.threshold), spread);
  legend(e, said, needless);
  picture($("picture"), e, reader.written);
  $("meaning").textContent = said.meaning;
  $("notes").replaceChildren(
    ...said.notes.map((note) => {
      const item = document.createElement("li");
      item.append(note);
      return item;
    }),
  );
  const took = e.seconds < 1 ? `${(e.seconds * 1000).toFixed(1)} ms` : `${e.seconds.toFixed(1)} s`;
  $("provenance").textContent = `Found by ${e.method} (${e.evaluator}) in ${took}, ${e.queries.toLocaleString("en")} ${e.queries === 1 ? "query" : "queries"}, seed ${e.seed}.`;
  changed();
}

// Labels to ask about: any other for a flip, one of them for "why not"; a model of labels only names none.
function rivals(e) {
  const known = (e.probabilities ?? []).map(([name]) => name).filter((name) => name !== e.label);
  const before = $("rival").selectedOptions[0]?.textContent;
  state.rivals = [null, ...known];
  $("rival").replaceChildren(...state.rivals.map((name, i) => new Option(name === null ? "any" : String(name), String(i))));
  const same = state.rivals.findIndex((name) => name !== null && String(name) === before);
  $("rival").value = String(Math.max(0, same));
  $("ask-against").setAttribute("aria-pressed", String(e.against !== null));
  stop("flip");
  $("flip").hidden = true;
  rivalChosen();
}

const rival = () => state.rivals[Number($("rival").value)] ?? null;

function rivalChosen() {
  const pressed = $("ask-against").getAttribute("aria-pressed") === "true";
  $("ask-against").textContent = pressed ? `Not only against ${state.explanation.against}` : rival() === null ? "Why not that one?" : `Why not ${rival()}?`;
  $("ask-against").disabled = rival() === null && !pressed;
}

function askAgainst() {
  state.against = state.explanation.against === null ? rival() : null;
  explain();
}

// The words to remove struck out, in the text as it is.
async function askFlip() {
  const e = state.explanation;
  const found = await latest("flip", (signal) =>
    api.flip({ text: e.text, label: chosenLabel(), to: rival(), seed: e.seed }, signal),
  );
  if (!found || state.explanation !== e) return;
  problem(null);
  const share = found.probabilities_after?.find(([name]) => name === found.new_label)?.[1];
  const label = document.createElement("b");
  label.append(String(found.new_label));
  $("flip-said").replaceChildren(found.said, ...(share === undefined ? [] : [" New label: ", label, ` (${rounded(share)}).`]));
  const characters = Array.from(found.text);
  const parts = [];
  let end = 0;
  for (const [start, stop] of found.spans) {
    const gone = document.createElement("del");
    gone.className = "k-gone";
    gone.append(characters.slice(start, stop).join(""));
    parts.push(characters.slice(end, start).join(""), gone);
    end = stop;
  }
  $("flip-text").replaceChildren(...parts, characters.slice(end).join(""));
  $("flip").hidden = false;
}

// The ways of shading the words: one is chosen, and stays chosen while one types.
function shading(views) {
  const before = $("shade").selectedOptions[0]?.textContent;
  $("shade").replaceChildren(...views.map((view, i) => new Option(view.name, String(i))));
  const same = views.findIndex((view) => view.name === before);
  $("shade").value = String(Math.max(0, same));
  $("shading").hidden = views.length === 0;
  state.views = views;
  shade();
}

function shade() {
  const view = state.views[Number($("shade").value)];
  reader.shade(view);
  if (!view) return;
  $("shade-against").textContent = `against −${view.most}`;
  $("shade-for").textContent = `for +${view.most}`;
}

function legend(e, said, needless) {
  const rows = [["│", "threshold", String(e.threshold)]];
  const words = listed(reader.named(e.positions));
  if (needless && words && !e.removals.length) rows.push(["", `with ${words} kept`, rounded(e.interval.mean, e.threshold)]);
  else if (said.baseline != null && !needless) rows.push(["◇", "baseline: no word held in place", said.baseline]);
  $("legend").replaceChildren(
    ...rows.map(([sign, name, value]) => {
      const item = document.createElement("li");
      const left = document.createElement("span");
      const mark = document.createElement("i");
      mark.append(sign);
      left.append(mark, ` ${name}`);
      const right = document.createElement("b");
      right.append(value);
      item.append(left, right);
      return item;
    }),
  );
}

function listed(names) {
  const counted = new Map();
  for (const name of names) counted.set(name, (counted.get(name) ?? 0) + 1);
  const parts = [...counted].map(([name, n]) => (n > 1 ? `${name} (${n} times)` : name));
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts.join("");
}

function onWord(k) {
  const set = state.mode === "remove" ? state.removed : state.chosen;
  if (!set.delete(k)) set.add(k);
  changed();
}

// The words' marks now, the answers about them when the server has them.
function changed() {
  $("mode-hint").textContent = HINTS[state.mode];
  reader.mark(state.removed, state.chosen);
  if (state.removed.size) askWithout();
  else {
    stop("predict");
    $("without").hidden = true;
  }
  if (state.chosen.size) askMine();
  else {
    stop("precision");
    $("mine").hidden = true;
  }
}

const askWithout = debounced(async () => {
  const e = state.explanation;
  if (!e || !state.removed.size) return;
  const removed = [...state.removed].sort((a, b) => a - b);
  const found = await latest("predict", (signal) => api.predict({ text: e.text, removed }, signal));
  if (!found || !state.removed.size) return;
  const holds = found.labels.includes(e.label);
  const label = document.createElement("b");
  label.append(holds ? String(e.label) : String(found.label ?? found.labels.join(", ")));
  const share = found.probabilities?.find(([name]) => name === found.label)?.[1];
  const names = reader.named(removed);
  const shown = names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : listed(names);
  $("without-text").replaceChildren(
    `Without ${shown}, the model predicts `,
    label,
    share === undefined ? "" : ` (${rounded(share)})`,
    holds ? ": the label holds." : `: the label ${e.label} is lost.`,
  );
  $("without").hidden = false;
  $("without").dataset.label = String(found.label);
}, 60);

const askMine = debounced(async () => {
  const e = state.explanation;
  if (!e || !state.chosen.size) return;
  const words = [...state.chosen].sort((a, b) => a - b);
  const found = await latest("precision", (signal) =>
    api.precision({ text: e.text, threshold: e.threshold, label: chosenLabel(), words }, signal),
  );
  if (!found || !state.chosen.size) return;
  const value = document.createElement("b");
  value.append(rounded(found.interval.mean, found.threshold));
  const names = reader.named(words);
  const shown = names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : listed(names);
  $("mine-text").replaceChildren(`${shown}: precision `, value);
  const verdict = found.reaches === null ? ["open", "? still open"] : found.reaches ? ["exact", "✓ an anchor"] : ["no", "✗ not an anchor"];
  $("mine-status").className = `k-status ${verdict[0]}`;
  $("mine-status").textContent = verdict[1];
  gauge($("mine-gauge"), found);
  const { low, high } = found.interval;
  $("mine-more").textContent =
    found.status === "exact"
      ? `Exact, by ${found.evaluator}${high - low >= 5e-4 ? `: ${between(found.interval, found.threshold)}` : ""}.`
      : `Certified ${between(found.interval, found.threshold)} from ${found.samples ? `${found.samples.toLocaleString("en")} samples` : found.evaluator}; ${+(100 * (1 - found.delta)).toFixed(6)}% confidence.`;
  $("mine").hidden = false;
}, 120);

function save(content, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function saveHtml() {
  const e = state.explanation;
  const asked = { text: e.text, threshold: e.threshold, method: $("method").value, seed: e.seed, label: chosenLabel() };
  if ($("harder").checked) asked.keep = "auto";
  if (e.against !== null) asked.against = e.against;
  try {
    save(await api.page(asked), "text/html", "explanation.html");
  } catch (error) {
    problem(error.message);
  }
}

async function start() {
  const about = await api.model();
  $("model").textContent = about.name;
  $("size").textContent = `Up to ${about.characters.toLocaleString("en")} characters; an answer within ${about.seconds} s.`;
  $("method").replaceChildren(...about.methods.map((name) => new Option(name, name)));
  about.documents.forEach((text, i) => {
    const short = text.length > 60 ? `${text.slice(0, 57)}…` : text;
    $("pick").append(new Option(short, String(i)));
  });
  $("pick").hidden = !about.documents.length;
  const soon = debounced(explain, DELAY);
  $("text").addEventListener("input", soon);
  $("threshold").addEventListener("input", () => {
    $("threshold-value").value = Number($("threshold").value).toFixed(2);
    soon();
  });
  $("method").addEventListener("change", explain);
  $("harder").addEventListener("change", explain);
  $("which").addEventListener("change", explain);
  $("shade").addEventListener("change", shade);
  $("pick").addEventListener("change", () => {
    const text = about.documents[Number($("pick").value)];
    if ($("pick").value !== "" && text !== undefined) {
      $("text").value = text;
      explain();
    }
  });
  for (const choice of document.querySelectorAll('[name="mode"]')) {
    choice.addEventListener("change", () => {
      state.mode = choice.value;
      $("mode-hint").textContent = HINTS[state.mode];
    });
  }
  $("rival").addEventListener("change", rivalChosen);
  $("ask-flip").addEventListener("click", askFlip);
  $("ask-against").addEventListener("click", askAgainst);
  $("flip-close").addEventListener("click", () => ($("flip").hidden = true));
  $("restore").addEventListener("click", () => {
    state.removed.clear();
    changed();
  });
  $("clear").addEventListener("click", () => {
    state.chosen.clear();
    changed();
  });
  $("cancel").addEventListener("click", () => {
    stop("explain");
    busy(null);
    problem("Cancelled.");
  });
  $("get-json").addEventListener("click", () =>
    save(JSON.stringify(state.explanation), "application/json", "explanation.json"),
  );
  $("get-html").addEventListener("click", saveHtml);
  document.documentElement.dataset.ready = "yes";
  if ($("text").value.trim()) explain();
}

start().catch((error) => problem(error.message));
