// One message: its state, history and body, and what the user can do with it.

import * as api from "./api.js";
import { ask, away, brief, button, el, lines, path, plain, size, time } from "./dom.js";
import { attempt, facts, problem } from "./table.js";

const SHOWN = 200000; // bytes of a body that are shown

const bytesOf = (message) => message.body_base64 !== undefined
  ? Uint8Array.from(atob(message.body_base64), (c) => c.charCodeAt(0))
  : new TextEncoder().encode(message.body);

function hex(bytes) {
  const rows = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    rows.push(at.toString(16).padStart(6, "0") + "  "
      + row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ").padEnd(48)
      + " " + row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·"))
        .join(""));
  }
  return rows.join("\n");
}

/** The forms in which a body can be shown. */
function forms(message) {
  const bytes = bytesOf(message), some = bytes.subarray(0, SHOWN);
  const made =
    { Hex: () => hex(some.subarray(0, SHOWN / 8)), Text: () => new TextDecoder().decode(some) };
  try {
    const value = JSON.parse(message.body);
    made.JSON = () => JSON.stringify(value, null, 2).slice(0, SHOWN);
  } catch { /* it is no JSON */ }
  return { bytes, made, first: made.JSON ? "JSON" : message.body === undefined ? "Hex" : "Text" };
}

function bodyOf(message) {
  const { bytes, made, first } = forms(message),
    text = el("pre", { tabindex: 0, "aria-label": "Body" });
  const buttons = ["JSON", "Text", "Hex"].filter((name) => made[name])
    .map((name) => button(name, () => show(name)));
  const show = (name) => {
    text.textContent = lines(made[name]());
    for (const one of buttons) one.setAttribute("aria-pressed", one.textContent === name);
  };
  show(first);
  return el("section", null,
    el("div", { class: "row" }, el("h2", null, "Body"),
      el("span", { class: "dim" }, size(bytes.length)), ...buttons),
    text, bytes.length > SHOWN && el("p", { class: "dim" }, "Only its beginning is shown."));
}

const limit = (count, most) => (most ? `${count} of ${most}` : `${count}, without limit`);

function about(message) {
  const when = { delayed: "due", leased: "until", dead: "since", outbox: "until" }[message.state];
  return facts([
    ["State", el("span", { class: "badge " + (message.state === "dead" ? "bad" : "") },
        message.state),
      when && [" ", when, " ", time(message.time_ms),
        ` (${away(message.time_ms, message.now_ms)})`]].flat(),
    ["Pushed", time(message.created_ms), ` (${away(message.created_ms, message.now_ms)})`],
    ["Attempts", limit(message.attempt, message.max_attempts)],
    ["Crashes", limit(message.crashes, message.max_crashes)],
    ["Deliveries", String(message.deliveries)],
    message.progress !== undefined && ["Progress",
      el("progress", { value: message.progress }), ` ${+(100 * message.progress).toFixed(2)} %`,
      message.progress_note && `, ${plain(message.progress_note)}`],
    ["Priority", message.priority],
    message.expires_ms
      && ["Expires", time(message.expires_ms), ` (${away(message.expires_ms, message.now_ms)})`],
    message.dead_letter && ["Dead letters to",
      el("a", { href: path("q", message.dead_letter) }, brief(message.dead_letter))],
    message.drop && ["When it dies", "it is deleted"],
    message.group && ["Group", plain(message.group)],
    message.batch && ["Batch", el("a",
        { href: path("q", message.batch_queue ?? message.queue, "b", message.batch) },
        brief(message.batch, 128)),
      message.batch_queue && ` of ${plain(message.batch_queue)}`]]);
}

function holderOf(inspected) {
  const holder = inspected.holder;
  return el("section", null, el("h2", null, "Leased by"), holder
    ? facts([["Worker", `${plain(holder.host)} · process ${holder.pid}`,
      holder.offline && (holder.stopping ? el("span", { class: "badge" }, "stopped")
        : el("span", { class: "badge bad" }, "offline"))],
      ["Program", `${plain(holder.program)}, dueq ${plain(holder.version)}`],
      [holder.running ? "Runs since" : "Leased since", time(holder.leased_since_ms),
        ` (${away(holder.leased_since_ms, inspected.now_ms)})`]])
    : el("p", { class: "dim" },
      "No consumer says so: it came a moment ago, or its holder has no heartbeat."));
}

const ENDS =
  { failed: "failed", crashed: "crashed: its lease ended", buried: "was buried", died: "died" };

/** How a message ended that was pushed with `keep`. */
function endOf(end) {
  const of = (ms) => ms === null ? "not known" : `${ms / 1000} s`;
  return el("section", null, el("h2", null, "Ended"), facts([
    ["Outcome", end.outcome],
    ["When", time(end.time_ms)],
    ["Pushed", time(end.created_ms)],
    ["Waited", of(end.waited_ms)],
    ["Ran", of(end.ran_ms)],
    ["Deliveries", String(end.deliveries)],
    end.host && ["By", plain(`${end.host} process ${end.pid}`)],
    end.has_result && ["Result", plain(end.result ?? end.result_base64)],
    end.error && ["Error", plain(end.error)],
  ].filter(Boolean)));
}

/** The failures, the oldest first. */
function historyOf(inspected) {
  return el("section", null, el("h2", null, "History"), facts([
    ["Pushed", time(inspected.pushed_ms), ` (${away(inspected.pushed_ms, inspected.now_ms)})`],
    ...inspected.history.map((failure) => [`Delivery ${failure.delivery}`,
      el("span", { class: "badge bad" }, ENDS[failure.kind]), " ", time(failure.time_ms),
      ` (${away(failure.time_ms, inspected.now_ms)})`,
      failure.host ? `, ${plain(failure.host)} · process ${failure.pid}`
        : failure.kind === "crashed" ? ", no consumer says who had it" : "",
      failure.error && el("pre", { class: "bad", tabindex: 0 }, lines(failure.error))])]));
}

export function messageView(main, queue, id) {
  const body = el("div"), actions = el("div", { class: "row" });

  async function act(what, verb, values = {}) {
    if (await attempt(what, () => api.post(api.of(queue, verb) + api.query(values), id))) read();
  }

  async function cancel() {
    if (await ask("Cancel this message?", "It is deleted, whatever its state.",
        { yes: "Cancel the message", danger: true })) act("Cancelled", "cancel");
  }

  async function reschedule() {
    const delay = await ask("Reschedule", "Due after this time from now, as 30s, 10m, 2h or 1d:",
      { input: "10m", yes: "Reschedule" });
    if (delay) act("Rescheduled", "reschedule", { delay });
  }

  function offer(message) {
    const state = message.state;
    actions.replaceChildren(...!api.state.writable ? [] : [
      state === "dead" && button("Kick", () => act("Ready again", "kick"), "main"),
      state === "delayed" && button(message.attempt ? "Retry now" : "Deliver now",
        () => act("Ready now", "reschedule", { delay: "0" }), "main"),
      state === "delayed" && button("Reschedule", reschedule),
      state === "delayed" && button("Kill", () => act("Dead", "kill")),
      button("Cancel", cancel, "danger")].filter(Boolean));
  }

  async function show({ ok, list: [message] }) {
    if (!ok) {
      actions.replaceChildren();
      const end = (await api.get(api.of(queue, "result", id))).list[0];
      body.replaceChildren(end?.outcome ? endOf(end) : el("p", { class: "dim empty" },
        "There is no message of this id now: it is done, cancelled, or never existed."));
      return;
    }
    offer(message);
    const names = Object.entries(message.headers);
    const inspected = (await api.get(api.of(queue, "inspect", id))).list[0],
      found = inspected?.pushed_ms;
    body.replaceChildren(...[
      about(message), found && inspected.state === "leased" && holderOf(inspected),
      message.error && el("section", null, el("h2", null, "Last error"),
        el("pre", { class: "bad", tabindex: 0 }, lines(message.error))),
      found && inspected.history.length > 0 && historyOf(inspected),
      names.length > 0 && el("section", null, el("h2", null, "Headers"),
        facts(names.map(([name, value]) => [plain(name), plain(value)]))),
      bodyOf(message)].filter(Boolean));
  }

  const read = () => api.get(api.of(queue, "messages", id)).then(show)
    .catch((error) => body.replaceChildren(problem(error)));
  main.replaceChildren(
    el("p", { class: "crumbs" }, el("a", { href: path("q", queue) }, brief(queue, 80))),
    el("div", { class: "title" }, el("h1", { class: "id" }, brief(id, 255)), actions), body);
  read();
  return {};
}
