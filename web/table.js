// Tables, and the result of an action.

import * as api from "./api.js";
import { button, el, number, plain, toast } from "./dom.js";
import { keyed, put, set } from "./patch.js";

export const problem = (error) => el("p", { class: "bad" }, plain(error.message));

/**
 * A cell that shows a text, or what make() returns for a value. The value must have everything that
 * make() depends on.
 */
export const cell = (label, value, make = null, kind = "") => ({ label, value, make, kind });

/** A row of such cells. of(item): its cells. */
function row(of) {
  const element = el("tr"), places = [];
  const add = ({ make }) => {
    const place = make ? el("span") : el("td");
    const shown = make ? el("td", null, place) : place;
    element.append(shown);
    return { place, shown };
  };
  const show = (item) => of(item).forEach((one, i) => {
    const { place, shown } = places[i] ??= add(one);
    set(shown, "class", one.kind);
    if (one.label) set(shown, "data-label", one.label);
    put(place, one.value, one.make);
  });
  return { element, show };
}

/**
 * A table that keeps its rows: one for each key(item), with the cells of(item). show(items, empty,
 * now): empty: the text without items; now: as in keyed().
 */
export function table(titles, key, of) {
  const body = el("tbody"), none = el("p", { class: "dim empty" });
  const shown = el("div", { class: "scroll" }, el("table", null,
    el("thead", null, el("tr", null, titles.map((title) => el("th", { scope: "col" }, title)))),
    body));
  const rows = keyed(body, () => row(of));
  const show = (items, empty, now = false) => {
    put(none, empty);
    rows(items.map((item) => [key(item), item]), now);
  };
  return { show, element: el("div", null, shown, none) };
}

/** A list of names and what each has. An entry that is false is left out. */
export const facts = (list) => el("dl", { class: "facts" },
  list.filter(Boolean)
    .flatMap(([name, ...values]) => [el("dt", null, name), el("dd", null, values)]));

/** Passes page after page to add(). After some pages it stops and offers a button to go on. */
export function gather(verb, queue, add, more) {
  async function read(after, pages = 20) {
    const page = await api.get(api.of(queue, verb) + api.query({ after }));
    add(page.list);
    if (page.next && pages > 1) return read(page.next, pages - 1);
    put(more, page.next, () => page.next && button("Look further", () => read(page.next)));
    return undefined;
  }
  return read();
}

/** Runs an action and shows its result. Returns whether it succeeded. */
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

/**
 * Posts a verb that changes messages a page at a time, until the last page. Shows how many it
 * changed, or the error. count: the member of each answer that has the number. one, many: the words
 * behind "1 message", and behind any other number.
 */
export async function postPages(queue, verb, values, count, one, many) {
  let all = 0, after;
  try {
    do {
      const page = await api.post(api.of(queue, verb) + api.query({ ...values, after }));
      all += page.list[0][count];
      after = page.next;
    } while (after);
    toast(all === 1 ? `1 message ${one}` : `${number(all)} messages ${many}`);
  } catch (error) {
    toast(error.message, true);
  }
}
