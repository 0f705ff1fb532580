// The view of all queues, and the table of queues or partitions.

import { spark } from "./chart.js";
import { brief, el, number, path, span } from "./dom.js";
import { flow, liveCharts, putBadges, rate, rows, speeds, total, urgency, why,
  whyLine } from "./live.js";
import { keyed, put, set } from "./patch.js";

const SHOWN = 500; // queues in the table

const COLUMNS = [
  ["queue", "Queue"], ["ready", "Ready"], ["delayed", "Delayed"], ["leased", "Leased"],
  ["dead", "Dead"],
  ["age", "Oldest"], ["done", "Done/s"], ["trend", "Done, 15 min"]];

const value = (known, column) =>
  column === "age" ? (known.counts.oldest_ms ? known.counts.now_ms - known.counts.oldest_ms : -1)
  : column === "done" || column === "trend"
    ? speeds(known.points.slice(-6), "acked").reduce((sum, one) => sum + one, 0) / 5
  : known.counts[column];

const AMOUNTS =
  [["Ready", "ready"], ["Delayed", "delayed"], ["Leased", "leased"], ["Dead", "dead", "bad"]];

/** The row of a queue. seen: of watcher(), because a curve outside of the window is not drawn. */
function queueRow(name, seen) {
  const marks = el("span"), line = spark("done per second"),
    trend = el("td", { class: "trend" }, line.element);
  const amounts = AMOUNTS.map(([label]) => el("td", { class: "num", "data-label": label }));
  const oldest = el("td", { class: "num", "data-label": "Oldest" }),
    speed = el("td", { class: "num", "data-label": "Done/s" });
  const element = el("tr", null,
    el("td", { class: "name" }, el("a", { href: path("q", name) }, brief(name, 80)), marks),
    amounts, oldest, speed, trend);
  let last = null, visible = false;
  const draw = () => {
    if (!visible || !last) return;
    const { times, of } = flow(last.store, name, last.known);
    line.show(times, of("acked"));
  };
  seen(trend, (now) => {
    visible = now;
    draw();
  });
  const show = ({ store, known, reason }) => {
    const { counts } = known;
    last = { store, known };
    set(element, "class", reason ? "stuck " + reason.level : "");
    putBadges(marks, counts);
    AMOUNTS.forEach(([, field, kind], i) => {
      put(amounts[i], number(counts[field]));
      set(amounts[i], "class", "num " + (counts[field] ? kind ?? "" : "zero"));
    });
    put(oldest, counts.oldest_ms ? span(counts.now_ms - counts.oldest_ms) : "–");
    put(speed, rate(value(known, "done")));
    draw();
  };
  return { element, show };
}

function reasonRow(name) {
  const place = el("td", { colspan: COLUMNS.length }), element = el("tr", null, place);
  return { element, show: ({ reason }) => {
    set(element, "class", "reason " + reason.level);
    put(place, reason, () => whyLine(name, reason));
  } };
}

/** Calls back when an element enters or leaves the window. */
function watcher() {
  const calls = new WeakMap();
  const observer = new IntersectionObserver((entries) =>
    entries.forEach((one) => calls.get(one.target)(one.isIntersecting)));
  return (element, call) => {
    calls.set(element, call);
    observer.observe(element);
  };
}

/**
 * A table of queues. Its heads sort it; at first the most urgent queues come first. show(store,
 * [[name, known]], reasons, now): reasons: with the diagnosis below each queue; now: as in keyed().
 */
export function queueTable(sorted = null) {
  const body = el("tbody"), seen = watcher();
  const fill = keyed(body, ({ name, below }) => (below ? reasonRow(name) : queueRow(name, seen)));
  let down = false, last = null;

  function show(store, list, reasons = true, now = false) {
    last = [store, list, reasons];
    const ordered = sorted === null
      ? list.map((one) => [urgency(store, one[0]), one]).sort(([a], [b]) => a - b)
      : list.map((one) => [sorted === "queue" ? one[0] : value(one[1], sorted), one])
        .sort(([x], [y]) => (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1));
    fill(ordered.slice(0, SHOWN).flatMap(([, [name, known]]) => {
      const reason = reasons ? why(store, name) : null;
      return [["queue " + name, { name, store, known, reason }],
        ...reason ? [["why " + name, { name, reason, below: true }]] : []];
    }), now);
  }

  const sort = (column) => {
    down = sorted === column ? !down : column !== "queue";
    sorted = column;
    mark();
    if (last) show(...last, true);
  };
  const heads = COLUMNS.map(([column]) => {
    const name = el("button", { type: "button", click: () => sort(column) });
    return { column, name, element: el("th", { scope: "col", class: column }, name) };
  });
  const mark = () => heads.forEach(({ column, name, element }, i) => {
    set(element, "aria-sort", sorted === column ? (down ? "descending" : "ascending") : null);
    name.textContent = COLUMNS[i][1] + (sorted === column ? (down ? " ↓" : " ↑") : "");
  });
  mark();
  return { show, element: el("div", { class: "scroll" }, el("table", { class: "queues" },
    el("thead", null, el("tr", null, heads.map(({ element }) => element))), body)) };
}

export function overview(main) {
  let last = null, only = false;
  const note = el("p", { class: "dim" }), table = queueTable(), charts = liveCharts();
  const tiles = ["ready", "delayed", "leased", "dead"].map((name) => {
    const amount = el("b");
    return { name, amount, element: el("div", { class: "tile" }, amount, name) };
  });
  const again = () => update(last, true);
  const search = el("input",
    { type: "search", placeholder: "Filter queues  ( / )", "aria-label": "Filter queues",
      input: again });
  const stuck = el("button",
      { type: "button", class: "danger", "aria-pressed": "false", hidden: true, click: () => {
    only = !only;
    again();
  } });

  function update(store, now = false) {
    last = store;
    if (!store?.all.size) return;
    const list = rows(store).sort(([a], [b]) => (a < b ? -1 : 1)),
      sums = total(list.map(([, known]) => known.counts));
    for (const { name, amount, element } of tiles) {
      put(amount, number(sums[name]));
      set(element, "class", "tile" + (name === "dead" && sums.dead ? " bad" : ""));
    }
    charts.show(store, "", store.all.get(""));
    const wrong = list
      .filter(([name]) => why(store, name) !== null && why(store, name).level !== "meant");
    put(stuck, `Stuck or failing: ${number(wrong.length)}`);
    stuck.hidden = wrong.length === 0 && !only;
    stuck.setAttribute("aria-pressed", only);
    const wanted = search.value.toLowerCase();
    const found = (only ? wrong : list).filter(([name]) => name.toLowerCase().includes(wanted));
    put(note, found.length > SHOWN
      ? `The first ${SHOWN} of ${number(found.length)} queues: filter them.`
      : list.length === 0 ? "There is no queue yet: dueq push orders 'hello'"
        : found.length === 0 ? "No queue matches." : "");
    table.show(store, found, true, now);
  }

  main.replaceChildren(el("h1", { class: "hidden" }, "Queues"),
    el("div", { class: "tiles" }, tiles.map(({ element }) => element)),
    charts.element, el("div", { class: "row" }, search, stuck), table.element, note);
  return { update };
}
