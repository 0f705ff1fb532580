// One queue: its messages by state, dead ones by error, schedules, workers, and its history.

import * as api from "./api.js";
import { chart } from "./chart.js";
import { ask, away, brief, button, el, number, path, plain, second, size, span, toast } from "./dom.js";
import { badges, liveCharts, wholeOf, why, whyLine } from "./live.js";
import { attempt, cell, problem, table } from "./table.js";
import { workers } from "./workers.js";

const PAGE = 50;
const LEAST = 10; // minutes or hours of a history
const STATES = ["ready", "delayed", "leased", "dead", "outbox"];
const NAMES = { ready: "Ready", delayed: "Delayed", leased: "In work", dead: "Dead", outbox: "Outbox" };

// ---- Tables ----

function timeOf(message) {
  if (message.state === "ready") return span(message.now_ms - message.created_ms) + " old";
  return away(message.time_ms, message.now_ms);
}

function messageRow(queue, message) {
  const link = el("a", { href: path("q", queue, "m", message.id) }, brief(message.id, 60));
  if (message.status) return el("tr", null, cell("Id", link), el("td", { class: "bad", colspan: 4 }, "damaged: it cannot be read"));
  const task = message.headers.task;
  return el("tr", null, cell("Id", link, task && el("span", { class: "badge" }, brief(task, 40))),
    cell("When", timeOf(message)),
    cell("Attempt", message.max_attempts ? `${message.attempt} of ${message.max_attempts}` : String(message.attempt)),
    cell("Size", size(message.size)),
    el("td", { class: "text", "data-label": message.error ? "Error" : "Body" },
      message.error ? el("span", { class: "bad" }, brief(message.error.split("\n")[0])) : brief(message.preview ?? "(binary)", 100)));
}

// ---- What a tab shows ----

/** Messages of a state, with search. read(): reads anew from the first page. */
function messages(queue, state) {
  const list = el("div"), note = el("p", { class: "dim" }), more = el("div", { class: "row" });
  let rows = [], looking = null;

  const draw = () => {
    list.replaceChildren(table(["Id", state === "ready" ? "Age" : state === "dead" ? "Died" : state === "delayed" ? "Due" : "Until", "Attempt", "Size",
      state === "ready" || state === "delayed" ? "Body, or last error" : "Error, or body"], rows, search.value ? "Nothing found so far." : "There are none."));
  };

  async function read(after) {
    looking?.abort();
    looking = new AbortController();
    const signal = looking.signal, text = search.value;
    try {
      if (!after) rows = [];
      if (!after && text) {
        // By its id a message is found at once, in any state.
        const found = await api.get(api.of(queue, "messages", text) + api.query({ preview: 1 }), signal);
        if (found.ok) rows.push(...found.list.map((message) => messageRow(queue, message)));
      }
      const page = await api.get(api.of(queue, "messages") + api.query({ state, count: PAGE, text: text || null, after }), signal);
      rows.push(...page.list.map((message) => messageRow(queue, message)));
      draw();
      note.textContent = text && page.next ? "There are more messages to search." : "";
      more.replaceChildren(...page.next ? [button(text ? "Search on" : "More", () => read(page.next))] : []);
    } catch (error) {
      if (error.name !== "AbortError") list.replaceChildren(problem(error));
    }
  }

  const search = el("input", { type: "search", placeholder: "Search id, header, error  ( / )", "aria-label": "Search messages", change: () => read() });
  read();
  return { read: () => rows.length <= PAGE && !search.value && !list.contains(document.activeElement) && read(),
    body: [el("div", { class: "row" }, search, button("Search", () => read())), list, note, more], close: () => looking?.abort() };
}

/** Reads page after page into `add`, up to a number of pages, then offers to go on. */
function gather(verb, queue, add, more) {
  async function read(after, pages = 20) {
    const page = await api.get(api.of(queue, verb) + api.query({ after }));
    add(page.list);
    if (page.next && pages > 1) return read(page.next, pages - 1);
    more.replaceChildren(...page.next ? [button("Look further", () => read(page.next))] : []);
    return undefined;
  }
  return read();
}

function errors(queue) {
  const list = el("div"), more = el("div", { class: "row" }), groups = new Map();
  const result = { body: [list, more], read };

  async function kickAll(group) {
    const name = group.error;
    if (!(await ask("Kick all of these?", `About ${number(group.count)} dead messages become ready again: ${brief(name)}`, { yes: "Kick them" }))) return;
    let kicked = 0, after;
    try {
      do {
        const part = await api.post(api.of(queue, "kick_group") + api.query({ error: group.error, after }));
        kicked += part.list[0].kicked;
        after = part.next;
      } while (after);
      toast(`${number(kicked)} messages are ready again`);
    } catch (error) {
      toast(error.message, true);
    }
    read();
  }

  function draw() {
    const rows = [...groups.values()].sort((a, b) => b.count - a.count).map((group) => el("tr", null,
      el("td", { class: "text", "data-label": "Error" }, el("a", { href: path("q", queue, "m", group.id), title: "an example" }, brief(group.error, 200))),
      cell("Messages", number(group.count)), cell("First", second(group.first_ms)), cell("Last", second(group.last_ms)),
      api.state.writable && el("td", { class: "actions", "data-label": "" }, button("Kick all of these", () => kickAll(group)))));
    list.replaceChildren(table(["Error", "Messages", "First died", "Last died", ...api.state.writable ? [""] : []], rows, "No message is dead."));
  }

  function read() {
    groups.clear();
    gather("errors", queue, (page) => {
      for (const group of page) {
        const known = groups.get(group.error);
        if (known) Object.assign(known, { count: known.count + group.count, last_ms: group.last_ms });
        else groups.set(group.error, group);
      }
      draw();
    }, more).catch((error) => list.replaceChildren(problem(error)));
  }
  read();
  return result;
}

function schedules(queue) {
  const list = el("div"), more = el("div", { class: "row" });

  async function act(verb, title, name) {
    if (await attempt(title, () => api.post(api.of(queue, "schedule_" + verb), name))) read();
  }

  async function remove(name) {
    if (await ask("Remove this schedule?", `${brief(name)} pushes nothing any more. Messages that it has pushed stay.`, { yes: "Remove it", danger: true }))
      act("remove", "Removed", name);
  }

  const actions = ({ name, paused, state }) => el("td", { class: "actions", "data-label": "" },
    button("Run now", () => act("run", "Its message is pushed", name)),
    state !== "delayed" ? null : paused ? button("Resume", () => act("resume", "Resumed", name), "main") : button("Pause", () => act("pause", "Paused", name)),
    button("Remove", () => remove(name), "danger"));

  const row = (one) => el("tr", null,
    cell("Name", el("a", { href: path("q", queue, "m", "schedule:" + one.name) }, brief(one.name, 60)), one.paused && el("span", { class: "badge warn" }, "paused")),
    cell("Schedule", el("code", null, plain(one.schedule))), cell("Zone", plain(one.zone)), cell("Catch up", plain(one.catchup)),
    cell("Next", one.state === "dead" ? el("span", { class: "bad" }, "dead") : one.paused ? "–" : second(one.next_ms)),
    api.state.writable && actions(one));

  function read() {
    const rows = [];
    gather("schedules", queue, (page) => {
      rows.push(...page.map(row));
      list.replaceChildren(table(["Name", "Schedule", "Zone", "Catch up", "Next", ...api.state.writable ? [""] : []], rows, "No schedule was found."));
    }, more).catch((error) => list.replaceChildren(problem(error)));
  }

  read();
  return { body: [list, more] };
}

function history(queue) {
  const list = el("div", { class: "charts" });
  let unit = "minutes";
  async function read() {
    const asked = api.of(queue, "rates") + api.query(unit === "minutes" ? { minutes: 180 } : { hours: 168 });
    const [{ list: rows }, { list: [{ now_ms }] }] = await Promise.all([api.get(asked), api.get(api.of(queue))]);
    // Nothing is told of a time in which nothing happened.
    const step = unit === "minutes" ? 60000 : 3600000, told = new Map(rows.map((row) => [Math.floor(row.start_ms / step), row]));
    const last = Math.floor(now_ms / step), times = [];
    for (let at = Math.min(last - LEAST, ...told.keys()); at <= last; at++) times.push(at * step);
    const of = (name) => times.map((ms) => told.get(ms / step)?.[name] ?? (name.endsWith("_ms") ? null : 0));
    const per = unit === "minutes" ? " a minute" : " an hour";
    list.replaceChildren(
      chart("Messages" + per, times, [{ name: "pushed", values: of("pushed") }, { name: "done", values: of("acked") }]),
      chart("Failures" + per, times, [{ name: "failed", values: of("retried") }, { name: "died", values: of("died") }]),
      chart("Lateness", times, [{ name: "half", values: of("late_p50_ms") }, { name: "99 of 100", values: of("late_p99_ms") }], { unit: span }),
      chart("Run time", times, [{ name: "half", values: of("run_p50_ms") }, { name: "99 of 100", values: of("run_p99_ms") }], { unit: span }));
  }
  const show = () => read().catch((error) => list.replaceChildren(problem(error)));
  const choice = el("select", { "aria-label": "Span", change: () => { unit = choice.value; show(); } },
    el("option", { value: "minutes" }, "3 hours"), el("option", { value: "hours" }, "7 days"));
  show();
  return { body: [el("div", { class: "row" }, choice), list], read: show };
}

const TABS = { errors: ["Dead by error", errors], schedules: ["Schedules", schedules], workers: ["Workers", (queue) => ({ ...workers(api.of(queue)), live: true })], history: ["History", history] };

// ---- The view ----

/** The tab that is shown first: of the first state that has messages. */
const firstTab = (counts) => ["ready", "leased", "delayed", "dead", "outbox"].find((state) => counts?.[state]) ?? "ready";

export function queueView(main, queue, known, given) {
  const tab = given || firstTab(known?.counts);
  const shown = STATES.includes(tab) ? messages(queue, tab) : (TABS[tab] ?? TABS.errors)[1](queue);
  const charts = el("div", { class: "charts" }), tabs = el("div", { class: "tabs", role: "navigation", "aria-label": "States" }), marks = el("span");
  const pause = el("span"), reason = el("div");
  let counts = null, due = 0, seen = null;

  async function change(verb, title) {
    if (await attempt(title, () => api.post(api.of(queue, verb)))) pause.replaceChildren();
  }

  function draw() {
    const link = (name, title, amount) => el("a", { href: path("q", queue, name), "aria-current": name === tab ? "page" : null },
      title, amount !== undefined && el("b", { class: name === "dead" && amount ? "bad" : "" }, number(amount)));
    const focused = tabs.contains(document.activeElement) && document.activeElement.getAttribute("href");
    tabs.replaceChildren(...STATES.filter((state) => state !== "outbox" || counts?.outbox || tab === state).map((state) => link(state, NAMES[state], counts?.[state])),
      ...Object.entries(TABS).map(([name, [title]]) => link(name, title)));
    if (focused) [...tabs.children].find((one) => one.getAttribute("href") === focused)?.focus();
    if (!counts) return;
    marks.replaceChildren(...badges(counts).filter(Boolean));
    if (api.state.writable && pause.dataset.paused !== String(counts.paused)) {
      pause.dataset.paused = counts.paused;
      pause.replaceChildren(counts.paused ? button("Resume", () => change("resume", "Resumed"), "main") : button("Pause", () => change("pause", "Paused")));
    }
  }

  function update(store) {
    const known = store.queues.get(queue);
    if (!known) {
      if (store.all.size) reason.replaceChildren(el("p", { class: "dim" }, "There is no such queue: it was never used, or removed."));
      return;
    }
    counts = known.counts;
    draw();
    charts.replaceChildren(...liveCharts(known.points));
    const wrong = why(store, queue);
    reason.replaceChildren(...wrong === null ? [] : [el("p", { class: "why " + wrong.level }, whyLine(queue, wrong))]);
    const now = JSON.stringify([counts[tab] ?? counts.dead, counts.reserved, counts.retried, counts.cancelled, counts.pushed]);
    if (seen !== null && (shown.live || now !== seen) && Date.now() >= due) {
      due = Date.now() + 3000;
      shown.read?.();
      seen = now;
    }
    seen ??= now;
  }

  draw();
  const whole = wholeOf(queue);
  main.replaceChildren(whole === null ? "" : el("p", { class: "crumbs" }, el("a", { href: path("q", whole) }, brief(whole, 80))),
    el("div", { class: "title" }, el("h1", null, brief(queue, 120)), marks, pause), reason, charts, tabs, ...shown.body);
  tabs.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  return { update, close: shown.close };
}
