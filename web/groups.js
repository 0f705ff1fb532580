// The groups of a queue: what waits, what keeps it waiting, and the limits.

import * as api from "./api.js";
import { ask, brief, button, el, number, second, span } from "./dom.js";
import { wholeOf } from "./live.js";
import { put } from "./patch.js";
import { attempt, cell, postPages, problem, table } from "./table.js";

const PAGE = 50;
const MOST = 200; // groups that one request reads at most; more rows are not read by themselves
const PAGES = 20; // requests that one search sends at most
// The limits are read this often by themselves: they may take the server 10 ms, and change seldom.
const LIMITS_MS = 10000;

/** "3 of 10" */
const part = (amount, most) =>
  (amount === null ? "–" : number(amount)) + (most ? "\u00a0of\u00a0" + number(most) : "");

// ---- Limits ----

/** The limits that count for a group: its own, or those of each group. Without a group: none. */
function limitsOf(limits, name) {
  if (limits === null || name === null) return {};
  const own = limits.own.get(name) ?? {};
  const oneAtATime = ["fifo", "strict"].includes(own.order || limits.order);
  return { concurrency: oneAtATime ? 1 : own.concurrency ?? limits.each_group_concurrency,
    rate: own.rate || limits.each_group_rate, backlog: own.backlog ?? limits.each_group_backlog,
    weight: own.weight };
}

/** "concurrency 5, rate 100/m"; empty: no limit is set. */
const told = (values) => Object.entries(values).filter(([, value]) => value)
  .map(([name, value]) => `${name} ${typeof value === "number" ? number(value) : value}`)
  .join(", ");

/** any: the queue has groups. The limits of a queue without groups are not shown here. */
function limitsBody(queue, limits, any) {
  const { concurrency, rate, burst, groups } = limits;
  const own = groups.map((group) => [group.name,
    told({ concurrency: group.concurrency, rate: group.rate, burst: group.burst,
      backlog: group.backlog, weight: group.weight, order: group.order })]);
  const rows = [
    [wholeOf(queue) === null ? "The queue" : "All partitions together",
      told({ concurrency, rate, burst })],
    ["Each group", told({ concurrency: limits.each_group_concurrency,
      rate: limits.each_group_rate, burst: limits.each_group_burst,
      backlog: limits.each_group_backlog, order: limits.order })],
    ["Limits of their own", own.length > 0 && el("details", null,
      el("summary", null, own.length === 1 ? "1 group" : `${number(own.length)} groups`),
      el("dl", null, own.flatMap(([name, text]) =>
        [el("dt", null, brief(name, 128)), el("dd", null, text)])))]];
  return rows.slice(any ? 0 : 1).some(([, text]) => text) && el("section", { class: "limits" },
    el("div", { class: "row" }, el("h2", null, "Limits"),
      el("span", { class: "dim" }, "dueq limit sets them")),
    el("dl", { class: "facts" }, rows.filter(([, text]) => text)
      .flatMap(([name, text]) => [el("dt", null, name), el("dd", null, text)])));
}

// ---- The tab ----

export function groups(queue) {
  const note = el("p", { class: "dim" }), more = el("div", { class: "row" });
  const failed = el("div"), bounds = el("div");
  let rows = [], limits = null, limitsDue = 0, looking = null, busy = false;

  async function purge({ name, waiting }) {
    if (!(await ask("Purge this group?",
      `The messages of ${brief(name)} that wait (about ${number(waiting)}) or are delayed are `
        + "deleted. Leased and dead ones stay.",
      { yes: "Purge it", danger: true }))) return;
    await postPages(queue, "purge_group", { group: name }, "purged", "was deleted", "were deleted");
    read(undefined, true);
  }

  async function change(title, name, duration) {
    await attempt(title, () =>
      api.post(api.of(queue, "hold") + api.query({ group: name, duration })));
    read(undefined, true);
  }

  async function hold(name) {
    const duration = await ask("Hold this group?",
      `No message of ${brief(name)} is delivered for this time: 30s, 10m, 2h or 1d. Leased ones `
        + "stay leased.", { input: "10m", yes: "Hold it" });
    if (duration) change("Held", name, duration);
  }

  const actions = (one) => [
    one.held_until_ms === null ? button("Hold", () => hold(one.name))
      : button("End the hold", () => change("The hold has ended", one.name, "0"), "main"),
    button("Purge", () => purge(one), "danger")];

  const kept = ({ at_limit, held_until_ms, now_ms }) => held_until_ms === null ? at_limit || "–"
    : [el("span", { class: "badge warn" }, "held"), ` for ${span(held_until_ms - now_ms)}, until `,
      second(held_until_ms)];

  const cells = (one) => {
    const limit = limitsOf(limits, one.name);
    return [
      cell("Group", one.name,
        () => one.name === null ? el("span", { class: "dim" }, "(no group)")
          : brief(one.name, 128), "text"),
      cell("Waiting", part(one.waiting, limit.backlog)),
      cell("Leased", part(one.leased, limit.concurrency)),
      cell("Oldest", one.oldest_ms === null ? "–" : span(one.now_ms - one.oldest_ms)),
      cell("Served a minute", part(one.served_per_minute)),
      cell("Rate", limit.rate || "–"),
      cell("Weight", limit.weight ? number(limit.weight) : "–"),
      cell("At limit", [one.at_limit, one.held_until_ms,
        one.held_until_ms && span(one.held_until_ms - one.now_ms)], () => kept(one)),
      ...api.state.writable
        ? [cell("",
          one.name === null ? "" : JSON.stringify([one.name, one.waiting, one.held_until_ms]),
          () => one.name === null ? "" : actions(one), "actions")]
        : []];
  };
  const list = table(["Group", "Waiting", "Leased", "Oldest", "Served a minute", "Rate", "Weight",
    "At limit", ...api.state.writable ? [""] : []], ({ name }) => JSON.stringify(name), cells);

  async function readLimits(signal, any) {
    try {
      const [found] = (await api.get(api.of(queue, "limits"), signal)).list;
      limits = { ...found, own: new Map(found.groups.map((group) => [group.name, group])) };
      put(bounds, [any, found], () => limitsBody(queue, limits, any));
    } catch (error) {
      if (error.name === "AbortError") throw error;
      limits = null;
      put(bounds, error.message, () => problem(error));
    }
  }

  /**
   * Reads on from a cursor, or again as many groups as are shown. wished: the user asked for it,
   * not the timer.
   */
  async function read(after, wished = false) {
    looking?.abort();
    looking = new AbortController();
    busy = wished;
    const signal = looking.signal, text = search.value.toLowerCase();
    const fits = ({ name }) => !text || (name ?? "").toLowerCase().includes(text);
    const wanted = after ? PAGE : Math.max(PAGE, rows.length), found = after ? [...rows] : [];
    let next = after, added = 0;
    try {
      for (let pages = 0; pages === 0 || (next && added < wanted && pages < PAGES); pages++) {
        const count = text ? MOST : Math.min(MOST, wanted - added);
        const page =
          await api.get(api.of(queue, "groups") + api.query({ count, after: next }), signal);
        const fitting = page.list.filter(fits);
        found.push(...fitting);
        added += fitting.length;
        next = page.next;
      }
      if (wished || (found.length > 0 && Date.now() >= limitsDue)) {
        await readLimits(signal, found.length > 0);
        limitsDue = Date.now() + LIMITS_MS;
      }
      rows = [...new Map(found.map((one) => [one.name, one])).values()];
      list.show(rows, !text ? "No message with a group waits or is leased."
        : next ? "Nothing found so far." : "No group has this in its name.", wished);
      line.hidden = !text && !next && rows.length <= PAGE;
      put(note, text && next ? "There are more groups to search." : "");
      put(more, [text, next],
        () => next && button(text ? "Search on" : "More", () => read(next, true)));
      put(failed, "");
    } catch (error) {
      if (error.name !== "AbortError") put(failed, error.message, () => problem(error));
    }
    if (signal === looking.signal) busy = false;
  }

  const find = () => {
    rows = [];
    read(undefined, true);
  };
  const search = el("input", { type: "search", placeholder: "Find a group by its name  ( / )",
    "aria-label": "Find a group by its name", change: find });
  const line = el("div", { class: "row", hidden: true }, search, button("Search", find));
  find();
  return { body: [bounds, line, failed, list.element, note, more], live: true,
    read: () => !busy && rows.length <= MOST && !search.value && read(),
    close: () => looking?.abort() };
}
