// A queue with partitions: the sums, and the table of its partitions, each of which is a queue.

import * as api from "./api.js";
import { brief, button, el, path, toast } from "./dom.js";
import { liveCharts, partitions, putBadges, putWhy, why } from "./live.js";
import { queueTable } from "./overview.js";
import { put } from "./patch.js";
import { attempt } from "./table.js";
import { workers } from "./workers.js";

export function partitionsView(main, queue) {
  const marks = el("span"), reason = el("div"), charts = liveCharts(), rows = queueTable();
  const consumers = workers(api.of(queue));
  let parts = [], due = 0, paused = false;

  /** Sends a verb to one partition after the other. Stops at the first that fails. */
  const change = (verb, title) => attempt(title, async () => {
    for (const [name] of parts) {
      const answer = await api.post(api.of(name, verb));
      if (!answer.ok) return answer;
    }
    return { ok: true, list: [] };
  });

  /** Looks for the message in each partition, and opens it. */
  async function find() {
    try {
      for (const [name] of parts) {
        if (!search.value) return;
        if (!(await api.get(api.of(name, "messages", search.value))).ok) continue;
        location.hash = path("q", name, "m", search.value);
        return;
      }
      toast("No partition has a message of this id.", true);
    } catch (error) {
      toast(error.message, true);
    }
  }

  const search = el("input",
    { type: "search", placeholder: "Find a message by its id  ( / )",
      "aria-label": "Find a message by its id", change: find });

  const pause =
    button("", () => (paused ? change("resume", "Resumed") : change("pause", "Paused")));
  pause.hidden = true;

  function update(store) {
    const known = store.wholes.get(queue);
    if (!known) return;
    parts = partitions(store, queue);
    const { counts } = known;
    putBadges(marks, counts);
    putWhy(reason, queue, why(store, queue));
    charts.show(store, queue, known);
    // If all partitions have the same diagnosis, the queue's own line says it, and the rows do not.
    const kinds = parts.map(([name]) => why(store, name)?.cause);
    rows.show(store, parts, new Set(kinds).size > 1);
    paused = counts.paused;
    pause.hidden = !api.state.writable;
    put(pause, paused ? "Resume" : "Pause");
    if (Date.now() < due) return;
    due = Date.now() + 5000;
    consumers.read();
  }

  main.replaceChildren(
    el("div", { class: "title" }, el("h1", null, brief(queue, 120)), marks, pause), reason,
    charts.element, el("div", { class: "row" }, search), rows.element,
    el("section", null, el("h2", null, "Workers"), ...consumers.body));
  return { update };
}
