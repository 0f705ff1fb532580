// Requests to the API of dueq web, which answers JSON lines. The token is a header of each request
// and no cookie, so a page of another site cannot act for this page.

import { ask } from "./dom.js";

const KEY = "dueq-token";
let asking = null, locked = null;

export const state = { server: "", version: "", writable: false };

function headers() {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: "Bearer " + token } : {};
}

/**
 * Asks the user for the token: once, however many requests wait for it. False: the user gave none.
 */
function askToken(first) {
  asking ??= ask("Token",
    first ? "This dashboard is protected: give its token." : "This is not the token.",
    { input: "", secret: true, yes: "Open" }).then((given) => {
    asking = null;
    if (given) sessionStorage.setItem(KEY, given);
    return Boolean(given);
  });
  return asking;
}

/** The user gave no token. Does not ask again until the user presses the button. */
function lock() {
  if (locked) return;
  const button = document.getElementById("token");
  let open;
  locked = new Promise((resolve) => { open = resolve; });
  button.hidden = false;
  button.onclick = async () => {
    if (!(await askToken(!sessionStorage.getItem(KEY)))) return;
    button.hidden = true;
    locked = null;
    open();
  };
}

/** begins() is called before each request, ends() before the user is asked for the token. */
async function request(path, options = {}, begins = () => {}, ends = () => {}) {
  for (;;) {
    begins();
    const answer = await fetch("api" + path, { ...options, headers: headers() });
    if (answer.status !== 401) return answer;
    ends();
    if (locked) return answer;
    if (await askToken(!sessionStorage.getItem(KEY))) continue;
    lock();
    return answer;
  }
}

const parse = (text) => text.split("\n").filter(Boolean).map((line) => JSON.parse(line));

/**
 * Why the browser cannot ask for a name, or null: it resolves "." and ".." as folders, even
 * encoded.
 */
export const unaskable = (name) =>
  (name === "." || name === ".."
    ? `A browser cannot ask for “${name}”: use dueq in a shell.` : null);

/** The path of a queue's verb; each part is encoded. */
export function of(queue, ...rest) {
  const parts = [queue, ...rest], refused = parts.map(unaskable).find(Boolean);
  if (refused) throw new Error(refused);
  return "/queues/" + parts.map(encodeURIComponent).join("/");
}

export const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  // A cursor is encoded already.
  const encoded = (name, value) => (name === "after" ? value : encodeURIComponent(value));
  return given.length
    ? "?" + given.map(([name, value]) => name + "=" + encoded(name, value)).join("&") : "";
};

async function read(answer) {
  const list = parse(await answer.text());
  if (!answer.ok && !list.some((item) => "id" in item))
    throw new Error(list.at(-1)?.text ?? "HTTP " + answer.status);
  return { ok: answer.ok, list, next: answer.headers.get("Dueq-Next") };
}

export const get = async (path, signal) => read(await request(path, { signal }));
export const post = async (path, body = "") => read(await request(path, { method: "POST", body }));

export async function hello() {
  const { list } = await get("");
  Object.assign(state, list[0]);
}

const QUIET_MS = 2500; // dueq web sends something twice a second
const AGAIN_MS = 1000;

/**
 * Reads the events of one connection. Returns why it ended. A silent connection is closed: after an
 * outage it may stay silent for ever.
 */
async function listen(on) {
  const leave = new AbortController();
  let timer, fresh = false;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => leave.abort(new Error("dueq web does not answer")), QUIET_MS);
  };
  const kinds = {
    queues: (list) => { fresh = true; on.queues(list); },
    why: on.why,
    history: on.history,
    // Until the event `queues` comes, the page shows the state before the outage: that is not live.
    live: () => fresh && on.live(),
    failure: ([{ text }]) => on.failure(text) };
  try {
    const answer =
      await request("/events", { signal: leave.signal }, heard, () => clearTimeout(timer));
    if (locked) return "no token was given";
    if (!answer.ok) return (await read(answer).catch((error) => error)).message;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part; !(part = await reader.read()).done;) {
      heard();
      const events = (rest + part.value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const [kind, ...data] = event.split("\n");
        const list = data.map((line) => line.slice(6)).filter(Boolean)
          .map((line) => JSON.parse(line));
        if (kind.startsWith("event: ")) kinds[kind.slice(7)]?.(list);
      }
    }
    return "the connection to dueq web ended";
  } catch (error) {
    return leave.signal.aborted ? leave.signal.reason.message : error.message;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Follows the events for ever. Calls on.queues(list), on.why(list) and on.history(list) with new
 * data, on.live() while the data is up to date, and on.failure(text) once it is not.
 */
export async function follow(on) {
  for (;;) {
    on.failure(await listen(on));
    await (locked ?? new Promise((again) => setTimeout(again, AGAIN_MS)));
  }
}
