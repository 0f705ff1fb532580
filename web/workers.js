// Who consumes, and what has been held longest.

import * as api from "./api.js";
import { away, brief, el, path, span } from "./dom.js";
import { cell, problem, table } from "./table.js";

/** The queue or partition that has what a consumer holds. */
const placeOf = (queue, holding) => (holding.partition === null ? queue : `${queue}#${holding.partition}`);

export function workerTable(list) {
  const rows = list.map((worker) => {
    const working = worker.queues.reduce((sum, queue) => sum + queue.working, 0);
    const held = worker.queues.flatMap((queue) => queue.holdings.filter((one) => one.working).map((one) => ({ ...one, queue: placeOf(queue.queue, one) })));
    const longest = held.sort((a, b) => a.since_ms - b.since_ms)[0];
    const [state, kind] = worker.lapsed ? ["lapsed", "bad"] : working ? ["works", "good"] : ["waits", ""];
    return el("tr", null,
      cell("Worker", `${brief(worker.host, 40)} · ${worker.pid}`), cell("State", el("span", { class: "badge " + kind }, state)),
      cell("Program", brief(worker.program, 40), " ", el("span", { class: "dim" }, brief(worker.version, 20))),
      cell("Queues", worker.queues.map((queue) => [el("a", { href: path("q", queue.queue) }, brief(queue.queue, 40)), " "]).flat()),
      cell("In work", worker.slots ? `${working} of ${worker.slots}` : String(working)),
      cell("Up", span(worker.now_ms - worker.since_ms)), cell("Seen", away(worker.seen_ms, worker.now_ms)),
      cell("Longest", longest ? [el("a", { href: path("q", longest.queue, "m", longest.id) }, brief(longest.id, 30)), " ", span(worker.now_ms - longest.since_ms)] : "–"));
  });
  return table(["Worker", "State", "Program", "Queues", "In work", "Up", "Seen", "Longest in work"], rows,
    "No consumer is registered: one with a heartbeat is, two seconds after it began.");
}

function slowTable(list) {
  const rows = list.map(({ queue, id, holder, deliveries, time_ms }) => {
    const [state, kind] = holder.lapsed ? ["lapsed", "bad"] : holder.working ? ["works", "good"] : ["waits", ""];
    return el("tr", null,
      cell("Message", el("a", { href: path("q", queue, "m", id) }, brief(id, 60))), cell("Queue", el("a", { href: path("q", queue) }, brief(queue, 60))),
      cell("Held for", span(holder.now_ms - holder.held_since_ms)), cell("Its worker", el("span", { class: "badge " + kind }, state)),
      cell("By", `${brief(holder.host, 40)} · ${holder.pid}`), cell("Delivery", String(deliveries)), cell("Lease ends", away(time_ms, holder.now_ms)));
  });
  return table(["Message", "Queue", "Held for", "Its worker", "By", "Delivery", "Lease ends"], rows, "No consumer has held a message for more than a second.");
}

/** Workers and what they hold, of a queue or of all (""). read(): reads anew. */
export function workers(prefix) {
  const list = el("div"), slow = el("div");
  const fill = (place, verb, made) => api.get(prefix + verb).then((answer) => {
    // Whoever has come to a link of it with the keyboard stays there.
    if (!place.contains(document.activeElement)) place.replaceChildren(made(answer.list));
  }, (error) => place.replaceChildren(problem(error)));
  const read = () => {
    fill(list, "/workers", workerTable);
    fill(slow, "/slow", slowTable);
  };
  read();
  return { body: [list, el("section", null, el("h2", null, "Held longest"), slow)], read };
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
