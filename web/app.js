// The page: which view is shown, what is live, and the keys.

import * as api from "./api.js";
import { spark } from "./chart.js";
import { brief, el, number, path, plain, span } from "./dom.js";
import { badges, liveCharts, rate, speeds } from "./live.js";
import { messageView } from "./message.js";
import { queueView, workerTable } from "./queue.js";

const KEPT = 180; // seconds of live history
const SHOWN = 500; // queues in the table

/** What the events told: by name { counts, points: [{ ms, ready, pushed, acked ... }] } */
const store = { queues: new Map(), points: [], failure: null, now: 0 };

const main = document.getElementById("main");
let view = null;

// ---- Live ----

const SUMS = ["ready", "delayed", "leased", "dead", "pushed", "acked", "retried", "died"];

function add(points, ms, counts) {
  points.push({ ms, ...Object.fromEntries(SUMS.map((name) => [name, counts[name]])) });
  if (points.length > KEPT) points.shift();
}

function onQueues(list) {
  const sums = Object.fromEntries(SUMS.map((name) => [name, 0])), seen = new Set();
  for (const counts of list) {
    const known = store.queues.get(counts.queue) ?? { points: [] };
    known.counts = counts;
    add(known.points, counts.now_ms, counts);
    store.queues.set(counts.queue, known);
    seen.add(counts.queue);
    for (const name of SUMS) sums[name] += counts[name];
  }
  for (const name of store.queues.keys()) if (!seen.has(name)) store.queues.delete(name);
  store.now = list[0]?.now_ms ?? Date.now();
  add(store.points, store.now, sums);
  store.failure = null;
  show();
}

function show() {
  const live = document.getElementById("live");
  live.textContent = store.failure === null ? "live" : "not live: " + brief(store.failure, 120);
  live.className = store.failure === null ? "good" : "bad";
  view?.update?.(store);
}

// ---- Overview ----

const COLUMNS = [
  ["queue", "Queue"], ["ready", "Ready"], ["delayed", "Delayed"], ["leased", "In work"], ["dead", "Dead"],
  ["age", "Oldest"], ["done", "Done/s"], ["trend", "Done, 3 min"]];

const value = (known, column) =>
  column === "age" ? (known.counts.oldest_ms ? known.counts.now_ms - known.counts.oldest_ms : -1)
  : column === "done" || column === "trend" ? speeds(known.points.slice(-6), "acked").reduce((sum, one) => sum + one, 0) / 5
  : known.counts[column];

function overview() {
  let sorted = "queue", down = false, text = "";
  const tiles = el("div", { class: "tiles" }), charts = el("div", { class: "charts" });
  const head = el("tr"), body = el("tbody"), note = el("p", { class: "dim" });
  const search = el("input", { type: "search", placeholder: "Filter queues  ( / )", "aria-label": "Filter queues",
    input: () => { text = search.value; update(store); } });

  function row(name, known) {
    const { counts } = known;
    const cell = (column, amount, kind) => el("td", { class: "num " + (amount ? kind ?? "" : "zero"), "data-label": column }, number(amount));
    return el("tr", null,
      el("td", { class: "name" }, el("a", { href: path("q", name) }, brief(name, 80)), badges(counts)),
      cell("Ready", counts.ready), cell("Delayed", counts.delayed), cell("In work", counts.leased), cell("Dead", counts.dead, "bad"),
      el("td", { class: "num", "data-label": "Oldest" }, counts.oldest_ms ? span(counts.now_ms - counts.oldest_ms) : "–"),
      el("td", { class: "num", "data-label": "Done/s" }, rate(value(known, "done"))),
      el("td", { class: "trend" }, spark(speeds(known.points, "acked"), "done per second")));
  }

  function update(from) {
    const last = from.points.at(-1);
    if (!last) return;
    const tile = (name, amount, kind) => el("div", { class: "tile " + (kind ?? "") }, el("b", null, number(amount)), name);
    tiles.replaceChildren(tile("ready", last.ready), tile("delayed", last.delayed), tile("in work", last.leased),
      tile("dead", last.dead, last.dead ? "bad" : ""));
    charts.replaceChildren(...liveCharts(from.points));
    const found = [...from.queues].filter(([name]) => name.toLowerCase().includes(text.toLowerCase()));
    found.sort(([a, one], [b, other]) => {
      const x = sorted === "queue" ? a : value(one, sorted), y = sorted === "queue" ? b : value(other, sorted);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    note.textContent = found.length > SHOWN ? `The first ${SHOWN} of ${number(found.length)} queues: filter them.`
      : from.queues.size === 0 ? "There is no queue yet: dueq push orders 'hello'" : "";
    const focused = document.activeElement?.closest("tbody") === body ? document.activeElement.getAttribute("href") : null;
    body.replaceChildren(...found.slice(0, SHOWN).map(([name, known]) => row(name, known)));
    if (focused) [...body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
  }

  const sort = (column) => {
    down = sorted === column ? !down : column !== "queue";
    sorted = column;
    heads();
    update(store);
  };
  const heads = () => head.replaceChildren(...COLUMNS.map(([column, title]) =>
    el("th", { scope: "col", class: column, "aria-sort": sorted === column ? (down ? "descending" : "ascending") : null },
      el("button", { type: "button", click: () => sort(column) }, title, sorted === column ? (down ? " ↓" : " ↑") : ""))));
  heads();
  main.replaceChildren(el("h1", { class: "hidden" }, "Queues"), tiles, charts, el("div", { class: "row" }, search),
    el("div", { class: "scroll" }, el("table", { class: "queues" }, el("thead", null, head), body)), note);
  return { update };
}

function workers() {
  const body = el("div");
  let due = 0;
  main.replaceChildren(el("h1", null, "Workers"), body);
  return { update: () => {
    if (Date.now() < due) return;
    due = Date.now() + 5000;
    api.get("/workers").then(({ list }) => body.replaceChildren(workerTable(list)), (error) => body.replaceChildren(el("p", { class: "bad" }, plain(error.message))));
  } };
}

// ---- Which view, keys ----

function route() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  view?.close?.();
  view = null;
  document.title = parts[1] ? brief(parts[1], 60) + " – dueq" : "dueq";
  for (const link of document.querySelectorAll("nav a"))
    link.toggleAttribute("aria-current", link.getAttribute("href") === (parts[0] === "workers" ? "#/workers" : "#/"));
  if (parts[0] === "workers") view = workers();
  else if (parts[0] === "q" && parts[2] === "m") view = messageView(main, parts[1], parts[3] ?? "");
  else if (parts[0] === "q" && parts[1]) view = queueView(main, parts[1], parts[2] || "ready");
  else view = overview();
  scrollTo(0, 0);
  show();
}

function help() {
  const keys = [["/", "search"], ["j  k", "next, previous row"], ["Enter", "open"], ["u  Backspace", "up"], ["r", "read again"], ["?", "this"]];
  const dialog = el("dialog", { click: () => dialog.close(), close: () => dialog.remove(), "aria-label": "Keys" }, el("h2", null, "Keys"),
    el("dl", { class: "keys" }, keys.flatMap(([key, what]) => [el("dt", null, el("kbd", null, key)), el("dd", null, what)])),
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
  const parts = location.hash.split("/");
  location.hash = parts[3] === "m" ? parts.slice(0, 3).join("/") : "#/";
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const keys = { "/": () => main.querySelector("input[type=search]")?.focus(), j: () => move(1), k: () => move(-1), u: up, Backspace: up,
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
  const shown = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
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

try {
  await api.hello();
} catch (error) {
  store.failure = error.message;
}
document.getElementById("server").textContent = plain(api.state.server) + (api.state.writable ? "" : " (read only)");
route();
api.follow(onQueues, (text) => {
  store.failure = text;
  show();
});
