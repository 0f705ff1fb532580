// One queue: its messages by state, dead ones by error, schedules, workers, and its history.

import * as api from "./api.js";
import { batches } from "./batches.js";
import { chart } from "./chart.js";
import { ask, away, brief, button, el, number, path, plain, second, size, span } from "./dom.js";
import { groups } from "./groups.js";
import { liveCharts, putBadges, putWhy, wholeOf, why } from "./live.js";
import { put, set } from "./patch.js";
import { attempt, cell, gather, postPages, problem, table } from "./table.js";
import { workers } from "./workers.js";

const PAGE = 50;
const LEAST = 10; // minutes or hours that a history has at least
const STATES = ["ready", "delayed", "leased", "dead", "outbox"];
const NAMES =
  { ready: "Ready", delayed: "Delayed", leased: "Leased", dead: "Dead", outbox: "Outbox" };

// ---- Tables ----

function timeOf(message) {
  if (message.state === "ready") return span(message.now_ms - message.created_ms) + " old";
  return away(message.time_ms, message.now_ms);
}

function messageCells(queue, message) {
  const link = () => el("a", { href: path("q", queue, "m", message.id) }, brief(message.id, 60));
  const bad = (text) => cell("Error", text, () => el("span", { class: "bad" }, text), "text");
  if (message.status)
    return [cell("Id", message.id, link), cell("When", ""), cell("Attempt", ""), cell("Size", ""),
      bad("damaged: it cannot be read")];
  const task = message.headers.task;
  return [
    cell("Id", [message.id, task],
      () => [link(), task && el("span", { class: "badge" }, brief(task, 40))]),
    cell("When", timeOf(message)),
    cell("Attempt",
      message.max_attempts ? `${message.attempt} of ${message.max_attempts}`
        : String(message.attempt)),
    cell("Size", size(message.size)),
    message.error ? bad(brief(message.error.split("\n")[0]))
      : cell("Body", brief(message.preview ?? "(binary)", 100),
        () => brief(message.preview ?? "(binary)", 100), "text")];
}

// ---- What a tab shows ----

/** Messages of a state, with search. read(): reads again from the first page. */
function messages(queue, state) {
  const note = el("p", { class: "dim" }), more = el("div", { class: "row" }), failed = el("div");
  const list = table(
    ["Id",
      state === "ready" ? "Age" : state === "dead" ? "Died" : state === "delayed" ? "Due" : "Until",
      "Attempt", "Size",
      state === "ready" || state === "delayed" ? "Body, or last error" : "Error, or body"],
    ({ id }) => id, (message) => messageCells(queue, message));
  let rows = [], looking = null;

  /** wished: the user asked for it, not the timer. */
  async function read(after, wished) {
    looking?.abort();
    looking = new AbortController();
    const signal = looking.signal, text = search.value;
    try {
      const found = after ? rows : [];
      if (!after && text) {
        // A search for a whole id finds its message at once, in any state.
        const one =
          await api.get(api.of(queue, "messages", text) + api.query({ preview: 1 }), signal);
        if (one.ok) found.push(...one.list);
      }
      const page = await api.get(api.of(queue, "messages")
        + api.query({ state, count: PAGE, text: text || null, after }), signal);
      rows = [...new Map([...found, ...page.list]
        .map((message) => [message.id, message])).values()];
      list.show(rows, text ? "Nothing found so far." : "There are none.", wished);
      put(note, text && page.next ? "There are more messages to search." : "");
      put(more, [text, page.next],
        () => page.next && button(text ? "Search on" : "More", () => read(page.next, true)));
      put(failed, "");
    } catch (error) {
      if (error.name !== "AbortError") put(failed, error.message, () => problem(error));
    }
  }

  const find = () => read(undefined, true);
  const search = el("input",
    { type: "search", placeholder: "Search id, header, error  ( / )",
      "aria-label": "Search messages", change: find });
  find();
  return { read: () => rows.length <= PAGE && !search.value && read(),
    body: [el("div", { class: "row" }, search, button("Search", find)), failed, list.element, note,
      more], close: () => looking?.abort() };
}

function errors(queue) {
  const more = el("div", { class: "row" }), failed = el("div");
  let groups = new Map();

  async function kickAll(name) {
    const count = number(groups.get(name)?.count ?? 0);
    if (!(await ask("Kick all of these?",
      `About ${count} dead messages become ready again: ${brief(name)}`,
      { yes: "Kick them" }))) return;
    await postPages(queue, "kick_group", { error: name }, "kicked", "is ready again",
      "are ready again");
    read(true);
  }

  const cells = ({ error, id, count, first_ms, last_ms }) => [
    cell("Error", [error, id],
      () => el("a", { href: path("q", queue, "m", id), title: "an example" }, brief(error, 200)),
      "text"),
    cell("Messages", number(count)), cell("First", first_ms, () => second(first_ms)),
    cell("Last", last_ms, () => second(last_ms)),
    ...api.state.writable
      ? [cell("", error, () => button("Kick all of these", () => kickAll(error)), "actions")] : []];
  const list = table(
    ["Error", "Messages", "First died", "Last died", ...api.state.writable ? [""] : []],
    ({ error }) => error, cells);

  /** wished: the user asked for it, not the timer. */
  function read(wished) {
    const found = new Map();
    gather("errors", queue, (page) => {
      for (const group of page) {
        const known = found.get(group.error);
        if (known)
          Object.assign(known, { count: known.count + group.count, last_ms: group.last_ms });
        else found.set(group.error, group);
      }
      groups = found;
      list.show([...groups.values()].sort((a, b) => b.count - a.count), "No message is dead.",
        wished);
      put(failed, "");
    }, more).catch((error) => put(failed, error.message, () => problem(error)));
  }
  read(true);
  return { body: [failed, list.element, more], read: () => read() };
}

function schedules(queue) {
  const more = el("div", { class: "row" }), failed = el("div");

  async function act(verb, title, name) {
    if (await attempt(title, () => api.post(api.of(queue, "schedule_" + verb), name))) read();
  }

  async function remove(name) {
    if (await ask("Remove this schedule?",
        `${brief(name)} pushes nothing any more. Messages that it has pushed stay.`,
        { yes: "Remove it", danger: true }))
      act("remove", "Removed", name);
  }

  const actions = ({ name, paused, state }) => [
    button("Run now", () => act("run", "Its message is pushed", name)),
    state !== "delayed" ? null : paused
      ? button("Resume", () => act("resume", "Resumed", name), "main")
      : button("Pause", () => act("pause", "Paused", name)),
    button("Remove", () => remove(name), "danger")];

  const cells = (one) => [
    cell("Name", [one.name, one.paused],
      () => [el("a", { href: path("q", queue, "m", "schedule:" + one.name) }, brief(one.name, 60)),
      one.paused && el("span", { class: "badge warn" }, "paused")]),
    cell("Schedule", one.schedule, () => el("code", null, plain(one.schedule))),
    cell("Zone", plain(one.zone)), cell("Catch up", plain(one.catchup)),
    cell("Next", [one.state, one.paused, one.next_ms], () =>
      one.state === "dead" ? el("span", { class: "bad" }, "dead") : one.paused ? "–"
        : second(one.next_ms)),
    ...api.state.writable ? [cell("", [one.state, one.paused], () => actions(one), "actions")]
      : []];
  const list = table(
    ["Name", "Schedule", "Zone", "Catch up", "Next", ...api.state.writable ? [""] : []],
    ({ name }) => name, cells);

  function read() {
    const rows = [];
    gather("schedules", queue, (page) => {
      rows.push(...page);
      list.show(rows, "No schedule was found.", true);
      put(failed, "");
    }, more).catch((error) => put(failed, error.message, () => problem(error)));
  }

  read();
  return { body: [failed, list.element, more] };
}

function historyCharts(step) {
  const per = step === "minute" ? " a minute" : " an hour";
  const made = [
    ["Messages" + per, { pushed: "pushed", done: "acked" }],
    ["Failures" + per, { failed: "retried", died: "died" }],
    ["Lateness", { p50: "late_p50_ms", p99: "late_p99_ms" }, { unit: span }],
    ["Run time", { p50: "run_p50_ms", p99: "run_p99_ms" }, { unit: span }],
  ].map(([title, fields, options]) =>
    [chart(title, Object.keys(fields), options), Object.values(fields)]);
  const show = (times, of) =>
    made.forEach(([one, fields]) => one.show(times, fields.map(of), `the last whole ${step}`));
  return { show,
    element: el("div", { class: "charts", hidden: true }, made.map(([{ element }]) => element)) };
}

function history(queue) {
  const failed = el("div"), units = ["minutes", "hours"];
  const charts = units.map((unit) => historyCharts(unit === "minutes" ? "minute" : "hour"));
  let unit = "minutes";
  async function read() {
    const asked = api.of(queue, "rates")
      + api.query(unit === "minutes" ? { minutes: 180 } : { hours: 168 });
    const [{ list: rows }, { list: [{ now_ms }] }] =
      await Promise.all([api.get(asked), api.get(api.of(queue))]);
    // The API leaves out times without an event.
    const step = unit === "minutes" ? 60000 : 3600000,
      told = new Map(rows.map((row) => [Math.floor(row.start_ms / step), row]));
    // The present minute or hour is left out: it would look like a drop.
    const now = Math.floor(now_ms / step), times = [];
    for (let at = Math.min(now - LEAST, ...told.keys()); at < now; at++) times.push(at * step);
    const of = (name) =>
      times.map((ms) => told.get(ms / step)?.[name] ?? (name.endsWith("_ms") ? null : 0));
    charts.forEach((one, i) => { one.element.hidden = (unit === "minutes") !== (i === 0); });
    charts[unit === "minutes" ? 0 : 1].show(times, of);
    put(failed, "");
  }
  const show = () => read().catch((error) => put(failed, error.message, () => problem(error)));
  const choice =
    el("select", { "aria-label": "Span", change: () => { unit = choice.value; show(); } },
    el("option", { value: "minutes" }, "3 hours"), el("option", { value: "hours" }, "7 days"));
  show();
  return { body: [el("div", { class: "row" }, choice), failed,
      ...charts.map(({ element }) => element)], read: show };
}

const TABS = { groups: ["Groups", groups], errors: ["Dead by error", errors],
  schedules: ["Schedules", schedules], batches: ["Batches", batches],
  workers: ["Workers", (queue) => ({ ...workers(api.of(queue)), live: true })],
  history: ["History", history] };

// ---- The view ----

/** The tab that is shown first: the first state that has messages. */
const firstTab = (counts) =>
  ["ready", "leased", "delayed", "dead", "outbox"].find((state) => counts?.[state]) ?? "ready";

export function queueView(main, queue, known, given) {
  const tab = STATES.includes(given) || Object.hasOwn(TABS, given) ? given
    : firstTab(known?.counts);
  const shown = STATES.includes(tab) ? messages(queue, tab) : TABS[tab][1](queue);
  const charts = liveCharts(), marks = el("span"), reason = el("div");
  let counts = null, due = 0, seen = null;

  const titles = [...STATES.map((state) => [state, NAMES[state]]),
    ...Object.entries(TABS).map(([name, [title]]) => [name, title])];
  const links = titles.map(([name, title]) => {
    const amount = STATES.includes(name) ? el("b") : null;
    return { name, amount,
      element: el("a",
        { href: path("q", queue, name), "aria-current": name === tab ? "page" : null }, title,
        amount) };
  });
  const tabs = el("div", { class: "tabs", role: "navigation", "aria-label": "States" },
    links.map(({ element }) => element));

  const change = (verb, title) => attempt(title, () => api.post(api.of(queue, verb)));
  const pause =
    button("", () => (counts.paused ? change("resume", "Resumed") : change("pause", "Paused")));

  function draw() {
    for (const { name, amount, element } of links) {
      if (name === "outbox") element.hidden = !counts?.outbox && tab !== name;
      if (!amount) continue;
      put(amount, counts ? number(counts[name]) : "");
      set(amount, "class", name === "dead" && counts?.dead ? "bad" : null);
    }
    pause.hidden = !counts || !api.state.writable;
    if (!counts) return;
    putBadges(marks, counts);
    put(pause, counts.paused ? "Resume" : "Pause");
  }

  function update(store) {
    const known = store.queues.get(queue);
    if (!known) {
      if (store.all.size)
        put(reason, null, () =>
          el("p", { class: "dim" }, "There is no such queue: it was never used, or removed."));
      return;
    }
    counts = known.counts;
    draw();
    charts.show(store, queue, known);
    putWhy(reason, queue, why(store, queue));
    const now = JSON.stringify([counts[tab] ?? counts.dead, counts.reserved, counts.retried,
      counts.cancelled, counts.pushed]);
    if (seen !== null && (shown.live || now !== seen) && Date.now() >= due) {
      due = Date.now() + 3000;
      shown.read?.();
      seen = now;
    }
    seen ??= now;
  }

  draw();
  const whole = wholeOf(queue);
  main.replaceChildren(
    whole === null ? ""
      : el("p", { class: "crumbs" }, el("a", { href: path("q", whole) }, brief(whole, 80))),
    el("div", { class: "title" }, el("h1", null, brief(queue, 120)), marks, pause), reason,
    charts.element, tabs, ...shown.body);
  tabs.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  return { update, close: shown.close };
}
