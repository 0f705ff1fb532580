// The consumers, and the messages that they have leased longest.

import * as api from "./api.js";
import { away, brief, el, path, span } from "./dom.js";
import { put } from "./patch.js";
import { cell, problem, table } from "./table.js";

/** The queue or partition of a message that a consumer has leased. */
const placeOf = (queue, lease) =>
  (lease.partition === null ? queue : `${queue}#${lease.partition}`);

/**
 * One entry for each process, which may have many consumers. Offline consumers have an entry of
 * their own: a later process may have the same number.
 */
function processes(list) {
  const found = new Map();
  for (const worker of list) {
    const key = JSON.stringify([worker.host, worker.pid, worker.program, worker.offline]);
    const one = found.get(key)
      ?? { ...worker, key, queues: new Map(), running: 0, slots: 0, leases: [] };
    for (const { queue, running, leases } of worker.queues) {
      one.queues.set(queue, queue);
      one.running += running;
      one.leases.push(...leases.filter((lease) => lease.running)
          .map((lease) => ({ ...lease, queue: placeOf(queue, lease) })));
    }
    one.slots += worker.slots;
    one.stopping ||= worker.stopping;
    one.since_ms = Math.min(one.since_ms, worker.since_ms);
    one.seen_ms = Math.max(one.seen_ms, worker.seen_ms);
    found.set(key, one);
  }
  return [...found.values()];
}

const state = (text, kind) =>
  cell("State", [text, kind], () => el("span", { class: "badge " + kind }, text));

const stateOf = ({ offline, stopping, running }) =>
  offline ? (stopping ? state("stopped", "") : state("offline", "bad"))
    : stopping ? state("stops", "") : running ? state("works", "good") : state("waits", "");

const queueLink = (queue, most) => el("a", { href: path("q", queue) }, brief(queue, most));

function workerCells(worker) {
  const longest = worker.leases.sort((a, b) => a.since_ms - b.since_ms)[0],
    queues = [...worker.queues.keys()].sort();
  return [
    cell("Worker", `${brief(worker.host, 40)} · ${worker.pid}`),
    stateOf(worker),
    cell("Program", [worker.program, worker.version],
      () => [brief(worker.program, 40), " ",
        el("span", { class: "dim" }, brief(worker.version, 20))]),
    cell("Queues", queues, () => queues.map((queue) => [queueLink(queue, 40), " "])),
    cell("Running", worker.slots ? `${worker.running} of ${worker.slots}` : String(worker.running)),
    cell("Up", span(worker.now_ms - worker.since_ms)),
    cell("Seen", away(worker.seen_ms, worker.now_ms)),
    cell("Longest", longest ? [longest.queue, longest.id] : null, () =>
      longest ? el("a", { href: path("q", longest.queue, "m", longest.id) }, brief(longest.id, 30))
        : "–"),
    cell("For", longest ? span(worker.now_ms - longest.since_ms) : "–")];
}

export function workerTable() {
  const { element, show } = table(
    ["Worker", "State", "Program", "Queues", "Running", "Up", "Seen", "Running longest", "For"],
    (worker) => worker.key, workerCells);
  return { element,
    show: (list) => show(processes(list),
      "No consumer is registered. One with a heartbeat registers two seconds after it began.") };
}

function runningCells({ queue, id, holder, deliveries, time_ms }) {
  return [
    cell("Message", id, () => el("a", { href: path("q", queue, "m", id) }, brief(id, 60))),
    cell("Queue", queue, () => queueLink(queue, 60)),
    cell("Leased for", span(holder.now_ms - holder.leased_since_ms)),
    stateOf(holder),
    cell("By", `${brief(holder.host, 40)} · ${holder.pid}`), cell("Delivery", String(deliveries)),
      cell("Lease ends", away(time_ms, holder.now_ms))];
}

function runningTable() {
  const { element, show } =
    table(["Message", "Queue", "Leased for", "Its worker", "By", "Delivery", "Lease ends"],
    ({ queue, id }) => JSON.stringify([queue, id]), runningCells);
  return { element,
    show: (list) => show(list, "No consumer has leased a message for more than a second.") };
}

/**
 * Workers and the messages that they have leased, of a queue or of all queues (""). read(): reads
 * again.
 */
export function workers(prefix) {
  const list = workerTable(), running = runningTable(), failed = el("div");
  const read = () => Promise.all([["/workers", list], ["/running", running]]
      .map(async ([verb, { show }]) => show((await api.get(prefix + verb)).list)))
    .then(() => put(failed, ""), (error) => put(failed, error.message, () => problem(error)));
  read();
  return { body: [failed, list.element,
      el("section", null, el("h2", null, "Leased longest"), running.element)], read };
}

export function workersView(main) {
  const { body, read } = workers("");
  let due = Date.now() + 5000;
  main.replaceChildren(el("h1", null, "Workers"), ...body);
  return { update: () => {
    if (Date.now() < due) return;
    due = Date.now() + 5000;
    read();
  } };
}
