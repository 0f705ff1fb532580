// What the events say of queues, and how it looks.

import { chart } from "./chart.js";
import { el, number, path, plain } from "./dom.js";
import { put } from "./patch.js";

const KEPT = 180; // seconds of live history
const SUMS = ["ready", "delayed", "leased", "dead", "outbox", "pushed", "reserved", "acked", "retried", "cancelled", "died"];

/** The name of the queue that this one is a partition of, or null. */
export const wholeOf = (name) => /^(.+)#\d+$/s.exec(name)?.[1] ?? null;

/** The counts of queues that consist of partitions, from those of all. */
export function wholes(list) {
  const found = new Map();
  for (const counts of list) {
    const name = wholeOf(counts.queue);
    if (name === null) continue;
    const sum = found.get(name) ?? { ...total([]), queue: name, parts: 0, paused: false, oldest_ms: null, now_ms: counts.now_ms };
    for (const one of SUMS) sum[one] += counts[one];
    sum.parts++;
    sum.paused ||= counts.paused;
    sum.evicting ||= counts.evicting;
    sum.outbox_error ||= counts.outbox_error;
    sum.oldest_ms = Math.min(sum.oldest_ms ?? Infinity, counts.oldest_ms ?? Infinity);
    if (sum.oldest_ms === Infinity) sum.oldest_ms = null;
    found.set(name, sum);
  }
  return [...found.values()];
}

/** The sums of these. */
export const total = (list) => Object.fromEntries(SUMS.map((name) => [name, list.reduce((sum, one) => sum + one[name], 0)]));

/** Takes in what is told: a point more of each queue; those that are told no more are gone. */
export function add(queues, list) {
  const seen = new Set();
  for (const counts of list) {
    const known = queues.get(counts.queue) ?? { points: [] };
    known.counts = counts;
    known.points.push({ ms: counts.now_ms, ...Object.fromEntries(SUMS.map((name) => [name, counts[name]])) });
    if (known.points.length > KEPT) known.points.shift();
    queues.set(counts.queue, known);
    seen.add(counts.queue);
  }
  for (const name of queues.keys()) if (!seen.has(name)) queues.delete(name);
}

/** The queues of a list, with those that consist of partitions in the place of these: [name, known] */
export const rows = (store) => [...store.wholes,
  ...[...store.queues].filter(([name]) => wholeOf(name) === null && !store.wholes.has(name))];

export const partitions = (store, queue) => [...store.queues].filter(([name]) => wholeOf(name) === queue)
  .sort(([a], [b]) => a.slice(queue.length + 1) - b.slice(queue.length + 1));

/** Why it is stuck, {cause, level, why, fix}, or null. */
export const why = (store, queue) => store.whys.get(queue) ?? null;

/** What needs a person now comes first, then what can wait, what is meant, and what is well. */
const LEVELS = ["act", "look", "meant"];
export const urgency = (store, queue) => LEVELS.includes(why(store, queue)?.level) ? LEVELS.indexOf(why(store, queue).level) : LEVELS.length;

/** Where more of it is seen. */
const PLACES = {
  nobody: ["workers", "Workers"], behind: ["workers", "Workers"], hung: ["workers", "What is leased longest"], poison: ["errors", "Dead by error"],
  failing: ["delayed", "Those to be tried again"], crashing: ["leased", "Leased"], outbox: ["outbox", "Outbox"] };

/** The sentence, with a link to what it is about. */
export function whyLine(queue, reason) {
  const [place, title] = PLACES[reason.cause] ?? [];
  return [plain(reason.why), place && [" ", el("a", { href: path("q", queue, place) }, `→\u00a0${title}`)]].flat();
}

/** The speed of a counter at each of the points but the first. */
export const speeds = (points, name) =>
  points.slice(1).map((point, i) => Math.max(0, (point[name] - points[i][name]) * 1000 / Math.max(point.ms - points[i].ms, 1)));

const MINUTE = 60000, SPAN = 15 * MINUTE; // of the charts

/** From what the history says of queues: the speeds of their minutes, by name, and of all together, by "". */
export function past(list) {
  const found = new Map(list.map(({ queue, start_ms, pushed, acked, retried }) => [queue, pushed.map((_, i) =>
    // In the middle of the minute.
    ({ ms: start_ms + (i + 0.5) * MINUTE, pushed: pushed[i] / 60, acked: acked[i] / 60, retried: retried[i] / 60 }))]));
  const all = new Map();
  for (const [queue, minutes] of found) {
    if (found.has(wholeOf(queue))) continue;
    for (const minute of minutes) {
      const sum = all.get(minute.ms) ?? { ms: minute.ms, pushed: 0, acked: 0, retried: 0 };
      for (const name of ["pushed", "acked", "retried"]) sum[name] += minute[name];
      all.set(minute.ms, sum);
    }
  }
  return found.set("", [...all.values()].sort((a, b) => a.ms - b.ms));
}

/** The times, and of(name): the speeds then: of the server's minutes, and then of what the page has seen itself. */
export function flow(store, name, known) {
  const { points } = known, first = points.at(-1).ms - SPAN;
  const minutes = (store.history.get(name) ?? []).filter(({ ms }) => ms >= first && ms + MINUTE / 2 <= points[0].ms);
  return { times: [...minutes, ...points.slice(1)].map(({ ms }) => ms),
    of: (field) => [...minutes.map((minute) => minute[field]), ...speeds(points, field)] };
}

export const rate = (value) => (value < 10 ? Math.round(value * 10) / 10 : number(Math.round(value))) + "/s";

export function liveCharts() {
  const empty = "It is being measured.";
  const speed = chart("Throughput", ["pushed", "done", "failed"], { unit: rate, empty }), stock = chart("Waiting", ["ready", "leased"], { empty });
  const show = (store, name, known) => {
    const { times, of } = flow(store, name, known), { points } = known;
    speed.show(times, ["pushed", "acked", "retried"].map(of));
    // No server keeps how many waited.
    stock.show(points.map(({ ms }) => ms), ["ready", "leased"].map((state) => points.map((point) => point[state])));
  };
  return { show, element: el("div", { class: "charts" }, speed.element, stock.element) };
}

/** Why a queue is stuck, below its name. reason: as of why(), or null. */
export const putWhy = (place, queue, reason) =>
  put(place, [queue, reason], () => reason && el("p", { class: "why " + reason.level }, whyLine(queue, reason)));

export const putBadges = (place, counts) =>
  put(place, [counts.parts, counts.paused, counts.status, counts.evicting, counts.outbox, counts.outbox_error], () => badges(counts));

const badges = (counts) => [
  counts.parts && el("span", { class: "badge" }, `${counts.parts} partitions`),
  counts.paused && el("span", { class: "badge warn" }, "paused"),
  counts.status && el("span", { class: "badge bad" }, "cannot be read"),
  counts.evicting && el("span", { class: "badge bad" }, "evicting"),
  counts.outbox > 0 && el("span", { class: "badge warn", title: plain(counts.outbox_error) }, "outbox " + number(counts.outbox))];
