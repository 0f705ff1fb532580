// Tables, and what came of an action.

import { el, plain, toast } from "./dom.js";

export const problem = (error) => el("p", { class: "bad" }, plain(error.message));

export const table = (titles, rows, empty) => rows.length === 0 ? el("p", { class: "dim empty" }, empty)
  : el("div", { class: "scroll" }, el("table", null,
    el("thead", null, el("tr", null, titles.map((title) => el("th", { scope: "col" }, title)))), el("tbody", null, rows)));

export const cell = (label, ...children) => el("td", { "data-label": label }, el("span", null, ...children));

/** Does it, says what came of it. */
export async function attempt(what, action) {
  try {
    const { ok, list } = await action();
    const bad = list.find((item) => item.status && item.status !== "OK");
    toast(bad ? `${what}: ${bad.status}` : what, !ok);
    return ok;
  } catch (error) {
    toast(`${what}: ${error.message}`, true);
    return false;
  }
}
