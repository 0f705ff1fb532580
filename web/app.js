// The page: chooses the view, keeps the data of the events, and handles the keys.

import * as api from "./api.js";
import { batchView } from "./batches.js";
import { brief, el, path, plain } from "./dom.js";
import { add, past, total, wholeOf, wholes } from "./live.js";
import { messageView } from "./message.js";
import { overview } from "./overview.js";
import { partitionsView } from "./partitions.js";
import { free, put } from "./patch.js";
import { queueView } from "./queue.js";
import { workersView } from "./workers.js";

/**
 * The data of the events. queues, wholes (queues with partitions) and all (all queues together, by
 * "") have { counts, points: [{ ms, ready, pushed, acked ... }] } by name. history: the minutes
 * before, by the same names. whys: the diagnoses by queue. server: the server's diagnosis.
 */
const store = { queues: new Map(), wholes: new Map(), all: new Map(), history: new Map(),
  whys: new Map(), server: null, live: false, failure: null };

const main = document.getElementById("main");
let view = null, greeted = false;

// ---- Live ----

function onQueues(list) {
  add(store.queues, list);
  add(store.wholes, wholes(list));
  add(store.all, [{ queue: "", ...total(list), now_ms: list[0]?.now_ms ?? Date.now() }]);
  onLive();
  show();
  if (!greeted) greet();
}

function onLive() {
  store.live = true;
  store.failure = null;
  mark();
}

function onFailure(text) {
  store.live = false;
  store.failure = text;
  mark();
}

function onWhy(list) {
  store.whys = new Map(list.filter((one) => one.queue !== null).map((one) => [one.queue, one]));
  store.server = list.find((one) => one.queue === null) ?? null;
  show();
}

/** Shows "live" while the data is a moment old and the server answers. */
function mark() {
  const live = document.getElementById("live");
  const text = store.live ? "live" : store.failure === null ? "not live yet"
    : "not live: " + brief(store.failure, 120);
  if (live.textContent === text) return;
  live.textContent = text;
  live.className = store.live ? "good" : "bad";
}

function onHistory(list) {
  store.history = past(list);
  show();
}

function show() {
  put(document.getElementById("wrong"), store.server,
    () => store.server && el("p", { class: "why " + store.server.level }, plain(store.server.why)));
  // The view was chosen before the page knew the queue's counts, or that it has partitions: choose
  // again.
  const late = view?.queue !== undefined
    && (view.whole !== store.wholes.has(view.queue)
      || (view.early && store.queues.has(view.queue)));
  free(main, late ? route : () => view?.update?.(store));
}

// ---- Which view, keys ----

const partsOf = (hash) => hash.replace(/^#\/?/, "").split("/").map((part) => {
  try { return decodeURIComponent(part); } catch { return part; }
});

/** Shows a text instead of a view. */
function refusal(title, text) {
  main.replaceChildren(el("h1", null, brief(title, 120)), el("p", { class: "empty" }, text));
  return {};
}

function route() {
  const parts = partsOf(location.hash),
    refused = parts[0] === "q" && parts.slice(1).map(api.unaskable).find(Boolean);
  view?.close?.();
  view = null;
  document.title = parts[1] ? brief(parts[1], 60) + " – dueq" : "dueq";
  for (const link of document.querySelectorAll("nav a"))
    link.toggleAttribute("aria-current",
      link.getAttribute("href") === (parts[0] === "workers" ? "#/workers" : "#/"));
  if (refused) view = refusal(parts[1], refused);
  else if (parts[0] === "workers") view = workersView(main);
  else if (parts[0] === "q" && parts[2] === "m") view = messageView(main, parts[1], parts[3] ?? "");
  else if (parts[0] === "q" && parts[2] === "b") view = batchView(main, parts[1], parts[3] ?? "");
  else if (parts[0] === "q" && parts[1]) {
    const [, queue, tab] = parts, whole = store.wholes.has(queue), known = store.queues.get(queue);
    view = { ...whole ? partitionsView(main, queue) : queueView(main, queue, known, tab), queue,
      whole, early: !whole && !known && !tab };
  } else view = overview(main);
  scrollTo(0, 0);
  show();
}

function help() {
  const keys = [["/", "search"], ["j  k", "next, previous row"], ["Enter", "open"],
    ["u  Backspace", "up"], ["r", "read again"], ["?", "this"]];
  const dialog = el("dialog",
    { click: () => dialog.close(), close: () => dialog.remove(), "aria-label": "Keys" },
    el("h2", null, "Keys"),
    el("dl", { class: "keys" },
      keys.flatMap(([key, what]) => [el("dt", null, el("kbd", null, key)), el("dd", null, what)])),
    el("p", { class: "dim" }, `dueq ${api.state.version}`));
  document.body.append(dialog);
  dialog.showModal();
}

function move(by) {
  const links = [...main.querySelectorAll("tbody a")];
  const at = links.indexOf(document.activeElement);
  links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

function up() {
  const [kind, queue, place] = partsOf(location.hash), whole = kind === "q" && wholeOf(queue ?? "");
  location.hash = place === "m" ? path("q", queue) : place === "b" ? path("q", queue, "batches")
    : whole ? path("q", whole) : "#/";
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey
      || event.target.closest("input, textarea, select, dialog")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const keys = { "/": () => main.querySelector("input[type=search]")?.focus(), j: () => move(1),
    k: () => move(-1), u: up, Backspace: up,
    r: () => route(), "?": help };
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

const theme = (wanted) => {
  if (wanted) document.documentElement.dataset.theme = wanted;
};
document.getElementById("theme").addEventListener("click", () => {
  const shown = document.documentElement.dataset.theme
    ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  localStorage.setItem("dueq-theme", shown === "dark" ? "light" : "dark");
  theme(localStorage.getItem("dueq-theme"));
});
document.getElementById("help").addEventListener("click", help);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
theme(localStorage.getItem("dueq-theme"));
addEventListener("hashchange", route);

/** Asks what the API permits, once dueq web answers. */
async function greet() {
  greeted = true;
  try {
    await api.hello();
    document.getElementById("server").textContent = plain(api.state.server)
      + (api.state.writable ? "" : " (read only)");
  } catch (error) {
    greeted = false;
    // The failure of the events says more, if there is one.
    if (store.failure === null) onFailure(error.message);
  }
  route();
}

mark();
greet();
api.follow({ queues: onQueues, why: onWhy, history: onHistory, live: onLive, failure: onFailure });
