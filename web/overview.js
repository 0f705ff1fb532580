// All queues, and the table that queues and partitions are shown in.

import { spark } from "./chart.js";
import { brief, el, number, path, span } from "./dom.js";
import { badges, liveCharts, rate, rows, speeds, total, urgency, why, whyLine } from "./live.js";

const SHOWN = 500; // queues in the table

const COLUMNS = [
  ["queue", "Queue"], ["ready", "Ready"], ["delayed", "Delayed"], ["leased", "In work"], ["dead", "Dead"],
  ["age", "Oldest"], ["done", "Done/s"], ["trend", "Done, 3 min"]];

const value = (known, column) =>
  column === "age" ? (known.counts.oldest_ms ? known.counts.now_ms - known.counts.oldest_ms : -1)
  : column === "done" || column === "trend" ? speeds(known.points.slice(-6), "acked").reduce((sum, one) => sum + one, 0) / 5
  : known.counts[column];

/** A table that the heads sort; at first by urgency, then as it is. show(store, [[name, known]], reasons): fills it, with reasons why. */
export function queueTable(sorted = null) {
  const head = el("tr"), body = el("tbody");
  let down = false, last = null;

  function row(name, known, reason) {
    const { counts } = known;
    const cell = (column, amount, kind) => el("td", { class: "num " + (amount ? kind ?? "" : "zero"), "data-label": column }, number(amount));
    return [el("tr", { class: reason ? "stuck " + reason.level : null },
      el("td", { class: "name" }, el("a", { href: path("q", name) }, brief(name, 80)), badges(counts)),
      cell("Ready", counts.ready), cell("Delayed", counts.delayed), cell("In work", counts.leased), cell("Dead", counts.dead, "bad"),
      el("td", { class: "num", "data-label": "Oldest" }, counts.oldest_ms ? span(counts.now_ms - counts.oldest_ms) : "–"),
      el("td", { class: "num", "data-label": "Done/s" }, rate(value(known, "done"))),
      el("td", { class: "trend" }, spark(speeds(known.points, "acked"), "done per second"))),
    reason && el("tr", { class: "reason " + reason.level }, el("td", { colspan: COLUMNS.length }, whyLine(name, reason)))];
  }

  function show(store, list, reasons = true) {
    last = [store, list, reasons];
    const ordered = sorted === null ? [...list].sort(([a], [b]) => urgency(store, a) - urgency(store, b)) : [...list].sort(([a, one], [b, other]) => {
      const x = sorted === "queue" ? a : value(one, sorted), y = sorted === "queue" ? b : value(other, sorted);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    const focused = document.activeElement?.closest("tbody") === body ? document.activeElement.getAttribute("href") : null;
    body.replaceChildren(...ordered.slice(0, SHOWN).flatMap(([name, known]) => row(name, known, reasons ? why(store, name) : null)).filter(Boolean));
    if (focused) [...body.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
  }

  const sort = (column) => {
    down = sorted === column ? !down : column !== "queue";
    sorted = column;
    heads();
    if (last) show(...last);
  };
  const heads = () => head.replaceChildren(...COLUMNS.map(([column, title]) =>
    el("th", { scope: "col", class: column, "aria-sort": sorted === column ? (down ? "descending" : "ascending") : null },
      el("button", { type: "button", click: () => sort(column) }, title, sorted === column ? (down ? " ↓" : " ↑") : ""))));
  heads();
  return { show, element: el("div", { class: "scroll" }, el("table", { class: "queues" }, el("thead", null, head), body)) };
}

export function overview(main) {
  let last = null, only = false;
  const tiles = el("div", { class: "tiles" }), charts = el("div", { class: "charts" }), note = el("p", { class: "dim" });
  const table = queueTable();
  const search = el("input", { type: "search", placeholder: "Filter queues  ( / )", "aria-label": "Filter queues", input: () => update(last) });
  const stuck = el("button", { type: "button", class: "danger", "aria-pressed": "false", click: () => {
    only = !only;
    update(last);
  } });

  function update(store) {
    last = store;
    if (!store?.all.size) return;
    const list = rows(store).sort(([a], [b]) => (a < b ? -1 : 1)), sums = total(list.map(([, known]) => known.counts));
    const tile = (name, kind) => el("div", { class: "tile " + (kind && sums[name] ? kind : "") }, el("b", null, number(sums[name])), name === "leased" ? "in work" : name);
    tiles.replaceChildren(tile("ready"), tile("delayed"), tile("leased"), tile("dead", "bad"));
    charts.replaceChildren(...liveCharts(store.all.get("").points));
    const wrong = list.filter(([name]) => why(store, name) !== null && why(store, name).level !== "meant");
    stuck.textContent = `Stuck or failing: ${number(wrong.length)}`;
    stuck.hidden = wrong.length === 0 && !only;
    stuck.setAttribute("aria-pressed", only);
    const found = (only ? wrong : list).filter(([name]) => name.toLowerCase().includes(search.value.toLowerCase()));
    note.textContent = found.length > SHOWN ? `The first ${SHOWN} of ${number(found.length)} queues: filter them.`
      : list.length === 0 ? "There is no queue yet: dueq push orders 'hello'" : found.length === 0 ? "There is none of these." : "";
    table.show(store, found);
  }

  main.replaceChildren(el("h1", { class: "hidden" }, "Queues"), tiles, charts, el("div", { class: "row" }, search, stuck), table.element, note);
  return { update };
}
