// The workbench: one state, redrawn when the server has answered. No framework, no build step.

import * as api from "./api.js";
import { between, rounded } from "./numbers.js";
import { bars, gauge, picture } from "./picture.js";
import { Reader } from "./reader.js";

const $ = (id) => document.getElementById(id);
const SIGNS = { exact: "=", certified: "✓", estimated: "≈", not_reached: "!" };
const HINTS = {
  remove: "Click a word to remove it and watch the prediction.",
  choose: "Click words to ask: is this set an anchor?",
};
const DELAY = 350; // milliseconds of quiet before an answer is asked for

const state = { explanation: null, removed: new Set(), chosen: new Set(), mode: "remove" };
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
  $("label").textContent = String(e.label);
  $("status").className = `k-status ${e.status}`;
  $("status").textContent = `${SIGNS[e.status]} ${e.status.replace("_", " ")}`;
  bars($("bars"), e.probabilities, e.label);
  reader.show(e);
  gauge($("gauge"), e);
  const [low, high] = e.interval;
  const spread = document.createElement("small");
  if (high - low >= 5e-4) spread.append(between(e.interval, e.threshold));
  $("precision").replaceChildren(rounded(e.precision, e.threshold), spread);
  legend(e, said);
  picture($("picture"), e, reader.written);
  $("meaning").textContent = said.meaning;
  $("notes").replaceChildren(
    ...e.notes.map((note) => {
      const item = document.createElement("li");
      item.append(note);
      return item;
    }),
  );
  const took = e.seconds < 1 ? `${(e.seconds * 1000).toFixed(1)} ms` : `${e.seconds.toFixed(1)} s`;
  $("provenance").textContent = `Found by ${e.method} in ${took}, ${e.queries.toLocaleString("en")} ${e.queries === 1 ? "query" : "queries"}, seed ${e.seed}.`;
  changed();
}

function legend(e, said) {
  const rows = [["│", "asked for", String(e.threshold)]];
  if (said.baseline != null) rows.push(["◇", "baseline, with no word kept", said.baseline]);
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
    `Without ${shown} the model says `,
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
  value.append(rounded(found.precision, found.threshold));
  const names = reader.named(words);
  const shown = names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : listed(names);
  $("mine-text").replaceChildren(`${shown}: precision `, value);
  const verdict = found.reaches === null ? ["open", "? still open"] : found.reaches ? ["exact", "✓ an anchor"] : ["no", "✗ not an anchor"];
  $("mine-status").className = `k-status ${verdict[0]}`;
  $("mine-status").textContent = verdict[1];
  gauge($("mine-gauge"), found);
  const [low, high] = found.interval;
  $("mine-more").textContent =
    found.status === "exact"
      ? `Exact, by ${found.method}${high - low >= 5e-4 ? `: ${between(found.interval, found.threshold)}` : ""}.`
      : `Certified ${between(found.interval, found.threshold)} from ${found.method}; wrong with probability at most ${found.delta}.`;
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
  $("which").addEventListener("change", explain);
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
