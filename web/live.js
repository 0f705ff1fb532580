// The data of the events about queues, and the elements that show it.

import { chart } from "./chart.js";
import { el, number, path, plain } from "./dom.js";
import { put } from "./patch.js";

const KEPT = 180; // seconds of live history
const SUMS = ["ready", "delayed", "leased", "dead", "outbox", "pushed", "reserved", "acked",
  "retried", "cancelled", "died"];

/** The name of the queue whose partition this is, or null. */
export const wholeOf = (name) => /^(.+)#\d+$/s.exec(name)?.[1] ?? null;

/** The counts of queues with partitions: the sums over their partitions. */
export function wholes(list) {
  const found = new Map();
  for (const counts of list) {
    const name = wholeOf(counts.queue);
    if (name === null) continue;
    const sum = found.get(name)
      ?? { ...total([]), queue: name, parts: 0, paused: false, oldest_ms: null,
        now_ms: counts.now_ms };
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

/** The sums of a list of counts. */
export const total = (list) =>
  Object.fromEntries(SUMS.map((name) => [name, list.reduce((sum, one) => sum + one[name], 0)]));

/**
 * Adds the counts of an event: one more point for each queue. Drops the queues that the event
 * leaves out.
 */
export function add(queues, list) {
  const seen = new Set();
  for (const counts of list) {
    const known = queues.get(counts.queue) ?? { points: [] };
    known.counts = counts;
    known.points.push(
      { ms: counts.now_ms, ...Object.fromEntries(SUMS.map((name) => [name, counts[name]])) });
    if (known.points.length > KEPT) known.points.shift();
    queues.set(counts.queue, known);
    seen.add(counts.queue);
  }
  for (const name of queues.keys()) if (!seen.has(name)) queues.delete(name);
}

/** The queues, with one entry instead of all partitions of a queue: [name, known]. */
export const rows = (store) => [...store.wholes,
  ...[...store.queues].filter(([name]) => wholeOf(name) === null && !store.wholes.has(name))];

export const partitions = (store, queue) =>
  [...store.queues].filter(([name]) => wholeOf(name) === queue)
  .sort(([a], [b]) => a.slice(queue.length + 1) - b.slice(queue.length + 1));

/** The diagnosis of a queue, { cause, level, why, fix }, or null. */
export const why = (store, queue) => store.whys.get(queue) ?? null;

/** The order of the rows: act now, look some time, meant, and then queues without a diagnosis. */
const LEVELS = ["act", "look", "meant"];
export const urgency = (store, queue) => LEVELS.includes(why(store, queue)?.level)
  ? LEVELS.indexOf(why(store, queue).level) : LEVELS.length;

/** The tab that shows more about a cause, and the text of the link. */
const PLACES = {
  nobody: ["workers", "Workers"], behind: ["workers", "Workers"],
  hung: ["workers", "What is leased longest"], poison: ["errors", "Dead by error"],
  failing: ["delayed", "Those to be tried again"], crashing: ["leased", "Leased"],
  limit: ["leased", "Leased"], groups: ["groups", "Groups"], outbox: ["outbox", "Outbox"] };

/** The causes that nothing on this page mends: the sentence says what to do in the shell. */
const SHELL = new Set(["limit"]);

/** The sentence of a diagnosis, with a link to the tab that shows more. */
export function whyLine(queue, reason) {
  const [place, title] = PLACES[reason.cause] ?? [];
  return [plain(reason.why + (SHELL.has(reason.cause) ? `: ${reason.fix}` : "")),
    place && [" ", el("a", { href: path("q", queue, place) }, `→\u00a0${title}`)]].flat();
}

/** The rate of a counter per second, at each point but the first. */
export const speeds = (points, name) =>
  points.slice(1)
    .map((point, i) =>
      Math.max(0, (point[name] - points[i][name]) * 1000 / Math.max(point.ms - points[i].ms, 1)));

const MINUTE = 60000, SPAN = 15 * MINUTE; // SPAN: of the charts

/**
 * The rates of past minutes, from the event `history`: by queue, and of all queues together by "".
 */
export function past(list) {
  const found = new Map(list.map(({ queue, start_ms, pushed, acked, retried }) =>
    [queue, pushed.map((_, i) =>
      // A rate stands at the middle of its minute.
      ({ ms: start_ms + (i + 0.5) * MINUTE, pushed: pushed[i] / 60, acked: acked[i] / 60,
        retried: retried[i] / 60 }))]));
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

/**
 * times, and of(field): the rates at these times. First the server's minutes, then what the page
 * has measured itself.
 */
export function flow(store, name, known) {
  const { points } = known, first = points.at(-1).ms - SPAN;
  const minutes = (store.history.get(name) ?? [])
    .filter(({ ms }) => ms >= first && ms + MINUTE / 2 <= points[0].ms);
  return { times: [...minutes, ...points.slice(1)].map(({ ms }) => ms),
    of: (field) => [...minutes.map((minute) => minute[field]), ...speeds(points, field)] };
}

export const rate = (value) =>
  (value < 10 ? Math.round(value * 10) / 10 : number(Math.round(value))) + "/s";

export function liveCharts() {
  const empty = "It is being measured.";
  const speed = chart("Throughput", ["pushed", "done", "failed"], { unit: rate, empty }),
    stock = chart("Waiting", ["ready", "leased"], { empty });
  const show = (store, name, known) => {
    const { times, of } = flow(store, name, known), { points } = known;
    speed.show(times, ["pushed", "acked", "retried"].map(of));
    // The server keeps no history of how many messages waited: this begins with the page.
    stock.show(points.map(({ ms }) => ms),
      ["ready", "leased"].map((state) => points.map((point) => point[state])));
  };
  return { show, element: el("div", { class: "charts" }, speed.element, stock.element) };
}

/** Shows a diagnosis below a queue's name. reason: from why(), or null. */
export const putWhy = (place, queue, reason) =>
  put(place, [queue, reason],
    () => reason && el("p", { class: "why " + reason.level }, whyLine(queue, reason)));

export const putBadges = (place, counts) =>
  put(place,
    [counts.parts, counts.paused, counts.status, counts.evicting, counts.outbox,
      counts.outbox_error],
    () => badges(counts));

const badges = (counts) => [
  counts.parts && el("span", { class: "badge" }, `${counts.parts} partitions`),
  counts.paused && el("span", { class: "badge warn" }, "paused"),
  counts.status && el("span", { class: "badge bad" }, "cannot be read"),
  counts.evicting && el("span", { class: "badge bad" }, "evicting"),
  counts.outbox > 0
    && el("span", { class: "badge warn", title: plain(counts.outbox_error) },
      "outbox " + number(counts.outbox))];
