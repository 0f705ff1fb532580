// The batches of a queue that have not ended, and one batch: how its members ended, its callbacks.

import * as api from "./api.js";
import { away, brief, el, number, path, span, time } from "./dom.js";
import { put } from "./patch.js";
import { cell, facts, gather, problem, table } from "./table.js";

const AGAIN_MS = 3000;
const CALLBACKS = [["then", "If all members are acknowledged"], ["catch", "At the first death"],
  ["finally", "At the end"]];

const percent = ({ pushed, left }) => (pushed ? Math.floor(100 * (pushed - left) / pushed) : 0);

const state = (one) =>
  el("span", { class: "badge" + (one.state === "open" ? " good" : "") }, one.state);

/** "in 3h": it closes then; "closed 2m ago". */
const closing = ({ state, closes_ms, now_ms }) =>
  (state === "open" ? away(closes_ms, now_ms) : `closed ${away(closes_ms, now_ms)}`);

// ---- The tab ----

export function batches(queue) {
  const more = el("div", { class: "row" }), failed = el("div");

  const cells = (one) => [
    cell("Batch", [one.id, one.state],
      () => [el("a", { href: path("q", queue, "b", one.id) }, brief(one.id, 128)), state(one)],
      "text"),
    cell("Members", number(one.pushed)),
    cell("Ended", `${number(one.pushed - one.left)}\u00a0(${percent(one)}\u00a0%)`),
    cell("Dead", one.dead,
      () => one.dead ? el("span", { class: "bad" }, number(one.dead)) : "0"),
    cell("Open for", span(one.now_ms - one.opened_ms)),
    cell("Closes", closing(one))];
  const list = table(["Batch", "Members", "Ended", "Dead", "Open for", "Closes"], ({ id }) => id,
    cells);

  /** wished: the user asked for it, not the timer. */
  function read(wished) {
    const found = new Map();
    gather("batches", queue, (page) => {
      for (const one of page) found.set(one.id, one);
      list.show([...found.values()].sort((a, b) => a.opened_ms - b.opened_ms),
        "There is no batch that has not ended.", wished);
      put(failed, "");
    }, more).catch((error) => put(failed, error.message, () => problem(error)));
  }
  read(true);
  return { body: [failed, list.element, more], live: true, read: () => read() };
}

// ---- One batch ----

/** Where the message of a callback goes. The message is there once it is pushed. */
function callbackOf(queue, one, name) {
  const id = one[name + "_id"], target = one[name + "_queue"] ?? queue;
  return id !== null && [el("a", { href: path("q", target, "m", id) }, brief(id, 80)),
    target !== queue && [" in ", el("a", { href: path("q", target) }, brief(target, 80))]].flat();
}

const timeOf = (ms, now) => [time(ms), ` (${away(ms, now)})`];

function about(queue, one) {
  const told = CALLBACKS.map(([name, title]) => [title, callbackOf(queue, one, name)])
    .filter(([, shown]) => shown);
  return [
    facts([
      ["State", state(one)],
      ["Members", `${number(one.pushed)}, of which ${number(one.left)} have not ended `,
        el("progress", { value: one.pushed ? (one.pushed - one.left) / one.pushed : 0,
          "aria-label": "Ended" })],
      ...["acked", "dead", "cancelled", "expired", "purged"].map((name) =>
        [{ acked: "Acknowledged", dead: "Dead" }[name] ?? name[0].toUpperCase() + name.slice(1),
          el("span", { class: name === "dead" && one.dead ? "bad" : null }, number(one[name]))]),
      ["Opened", ...timeOf(one.opened_ms, one.now_ms)],
      [one.state === "open" ? "Closes" : "Closed", ...timeOf(one.closes_ms, one.now_ms)],
      one.ended_ms && ["Ended", ...timeOf(one.ended_ms, one.now_ms)]]),
    el("section", null, el("h2", null, "Callbacks"),
      told.length ? facts(told.map(([title, shown]) => [title, ...shown]))
        : el("p", { class: "dim" }, one.state === "ended"
          ? "They are pushed. An ended batch no longer tells which they were."
          : "The batch has none."))];
}

export function batchView(main, queue, id) {
  const body = el("div"), shown = el("div");
  let due = 0, over = false;

  async function read() {
    due = Date.now() + AGAIN_MS;
    try {
      const { ok, list: [one] } = await api.get(api.of(queue, "batches", id));
      over = !ok || one.state === "ended";
      put(shown, JSON.stringify(one), () => ok ? about(queue, one)
        : el("p", { class: "dim empty" },
          "There is no batch of this id now: it ended long ago, or was never opened."));
    } catch (error) {
      put(shown, error.message, () => problem(error));
    }
  }

  body.append(shown);
  main.replaceChildren(
    el("p", { class: "crumbs" }, el("a", { href: path("q", queue, "batches") }, brief(queue, 80))),
    el("div", { class: "title" }, el("h1", { class: "id" }, brief(id, 128))), body);
  read();
  return { update: () => !over && Date.now() >= due && read() };
}
