// Changes the page in place. What is the same is not written. What the user presses, selects or
// points at changes only afterwards.

const AGAIN_MS = 300; // a change that waits is tried again after this time
const HOVER_MS = 2000; // rows keep their places this long after the mouse has moved over them
const SLICE_MS = 8; // work for this long, then let the browser handle events

const said = new WeakMap(), late = new Map();
let pressed = false, timer = 0;

// pressed: from the press of the button until its click.
addEventListener("pointerdown", (event) => { pressed = event.button === 0; }, true);
for (const kind of ["pointerup", "pointercancel", "dragend", "blur"])
  addEventListener(kind, (event) => {
    if (kind !== "blur" || event.target === window) setTimeout(() => { pressed = false; });
  }, true);
addEventListener("pointermove", (event) => { if (event.buttons === 0) pressed = false; }, true);

let range; // the selection; null: none; undefined: not asked for yet

/**
 * Whether the selection touches the place. Asking for the selection makes the browser compute the
 * layout, so it is asked for once in each task.
 */
function selected(place) {
  if (range === undefined) {
    const selection = getSelection();
    range = selection.isCollapsed ? null : selection.getRangeAt(0);
    queueMicrotask(() => { range = undefined; });
  }
  return range !== null && range.intersectsNode(place);
}

const focused = (place) => place !== document.activeElement
  && place.contains(document.activeElement);

/** Calls action() later. Of several actions for one place only the last is called. */
function wait(place, action) {
  late.set(place, action);
  timer ||= setTimeout(() => {
    const all = [...late];
    timer = 0;
    late.clear();
    for (const [one, waiting] of all) if (one.isConnected) waiting();
  }, AGAIN_MS);
}

const FOCUSABLE = "a, button";

/**
 * Calls action(), which changes a view: at once, or after the click while the user is pressing. Of
 * several actions for one place only the last is called.
 */
export function free(place, action) {
  if (pressed) wait(place, () => free(place, action));
  else action();
}

/**
 * Replaces the children of a place, and keeps the focus. False: nothing was replaced, because the
 * focused element has no successor.
 */
function replace(place, children) {
  const made = document.createDocumentFragment(), active = document.activeElement;
  const at = focused(place) ? [...place.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  made.append(...children.flat(2)
    .filter((child) => child !== null && child !== undefined && child !== false));
  const same = at < 0 ? null : made.querySelectorAll(FOCUSABLE)[at];
  if (at >= 0 && same?.getAttribute("href") !== active.getAttribute("href")) return false;
  place.replaceChildren(made);
  same?.focus({ preventScroll: true });
  return true;
}

/**
 * Shows a text in a place, or what make() returns for a value. Writes nothing if the value is the
 * same.
 */
export function put(place, value, make = null) {
  const text = make ? JSON.stringify(value) ?? "" : String(value);
  late.delete(place);
  if (said.get(place) === text) return;
  const held = place.isConnected && (pressed || selected(place));
  if (held || !replace(place, make ? [make()] : [text])) wait(place, () => put(place, value, make));
  else said.set(place, text);
}

/** Sets an attribute if its value has changed. null: removes it. */
export function set(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/**
 * Puts the elements into this order. Does not touch those in place, nor the pinned one, which has
 * the focus.
 */
function order(parent, elements, pinned) {
  let at = parent.firstElementChild;
  for (const element of elements) {
    // The element that is skipped is moved when its turn comes.
    if (element === pinned || (at !== pinned && element === at?.nextElementSibling)) at = element;
    if (element === at) at = at.nextElementSibling;
    else parent.insertBefore(element, at);
  }
}

/**
 * Keeps one child of an element for each key. make(item) returns { element, show(item) }. Returns
 * show([[key, item]], now). now: the user asked for it, so rows change under the mouse, too. While
 * the user presses, selects or points, no row comes, goes or moves.
 */
export function keyed(parent, make) {
  const known = new Map();
  let next = null, running = false, moved = -Infinity;
  parent.addEventListener("pointermove",
    (event) => { if (event.pointerType === "mouse") moved = performance.now(); });
  const held = (now) => known.size > 0
    && (pressed || selected(parent) || (!now && performance.now() - moved < HOVER_MS));

  function remove(wanted, hold) {
    for (const [key, { element }] of known) {
      const gone = !wanted.has(key), keep = gone && (hold || focused(element));
      element.classList.toggle("gone", keep);
      if (!gone || keep) continue;
      known.delete(key);
      element.remove();
    }
  }

  async function fill(list, now) {
    const first = known.size === 0;
    let hold = held(now), end = performance.now() + SLICE_MS, before = null;
    for (const [key, item] of list) {
      // The user may have begun to press or point meanwhile.
      hold ||= !first && !known.has(key) && held(now);
      const row = known.get(key) ?? (hold ? null : make(item));
      row?.show(item);
      if (row && !known.has(key)) {
        known.set(key, row);
        parent.insertBefore(row.element,
          before ? before.nextElementSibling : parent.firstElementChild);
      }
      before = row?.element ?? before;
      if (performance.now() < end) continue;
      do await new Promise((again) => setTimeout(again, pressed ? 20 : 0));
      while (pressed);
      end = performance.now() + SLICE_MS;
    }
    late.delete(parent);
    const still = hold || held(now);
    remove(new Set(list.map(([key]) => key)), still);
    if (still) wait(parent, () => show(list, now));
    else order(parent, list.map(([key]) => known.get(key).element),
      document.activeElement?.closest("tbody > *") ?? null);
  }

  async function show(list, now = false) {
    next = [list, now || Boolean(next?.[1])];
    if (running) return;
    running = true;
    while (next !== null) {
      const one = next;
      next = null;
      await fill(...one);
    }
    running = false;
  }
  return show;
}
