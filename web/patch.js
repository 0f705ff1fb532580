// What is shown changes in place: what is the same is not written, and what somebody has a hand on waits until it is let go.

const AGAIN_MS = 300; // what waits is tried again
const HOVER_MS = 2000; // rows stay where they are for so long after the mouse has moved over them
const SLICE_MS = 8; // of work, then the page may do something else

const said = new WeakMap(), late = new Map();
let pressed = false, timer = 0;

// From the press to the click that comes of it.
addEventListener("pointerdown", (event) => { pressed = event.button === 0; }, true);
for (const kind of ["pointerup", "pointercancel", "dragend", "blur"])
  addEventListener(kind, (event) => { if (kind !== "blur" || event.target === window) setTimeout(() => { pressed = false; }); }, true);
addEventListener("pointermove", (event) => { if (event.buttons === 0) pressed = false; }, true);

let range; // what is selected; null: nothing

/** To ask for the selection makes the browser lay the page out: it is asked once, and is the same until this task ends. */
function selected(place) {
  if (range === undefined) {
    const selection = getSelection();
    range = selection.isCollapsed ? null : selection.getRangeAt(0);
    queueMicrotask(() => { range = undefined; });
  }
  return range !== null && range.intersectsNode(place);
}

const focused = (place) => place !== document.activeElement && place.contains(document.activeElement);

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

/** Calls action(), which changes a view: at once, or after the click that follows a press. Of several for one place only the last is called. */
export function free(place, action) {
  if (pressed) wait(place, () => free(place, action));
  else action();
}

/** Puts the new children there. False: what has the focus is not among them. */
function replace(place, children) {
  const made = document.createDocumentFragment(), active = document.activeElement;
  const at = focused(place) ? [...place.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  const same = at < 0 ? null : made.querySelectorAll(FOCUSABLE)[at];
  if (at >= 0 && same?.getAttribute("href") !== active.getAttribute("href")) return false;
  place.replaceChildren(made);
  same?.focus({ preventScroll: true });
  return true;
}

/** Shows a text there, or what make() gives for a value; nothing is written where the value is the last one. */
export function put(place, value, make = null) {
  const text = make ? JSON.stringify(value) ?? "" : String(value);
  late.delete(place);
  if (said.get(place) === text) return;
  const held = place.isConnected && (pressed || selected(place));
  if (held || !replace(place, make ? [make()] : [text])) wait(place, () => put(place, value, make));
  else said.set(place, text);
}

/** Sets an attribute that is another one. null: it has none. */
export function set(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Puts them into this order. Those that are right stay untouched, and the pinned one in any case: it has the focus. */
function order(parent, elements, pinned) {
  let at = parent.firstElementChild;
  for (const element of elements) {
    // What is skipped is moved when its turn comes.
    if (element === pinned || (at !== pinned && element === at?.nextElementSibling)) at = element;
    if (element === at) at = at.nextElementSibling;
    else parent.insertBefore(element, at);
  }
}

/**
 * The children of an element, one for each key: make(item) gives { element, show(item) }. Returns show([[key, item]], now):
 * now: by the person's own wish, so also under the mouse. While they are under a hand, none comes, goes or moves.
 */
export function keyed(parent, make) {
  const known = new Map();
  let next = null, running = false, moved = -Infinity;
  parent.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") moved = performance.now(); });
  const held = (now) => known.size > 0 && (pressed || selected(parent) || (!now && performance.now() - moved < HOVER_MS));

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
      // A hand may have come meanwhile.
      hold ||= !first && !known.has(key) && held(now);
      const row = known.get(key) ?? (hold ? null : make(item));
      row?.show(item);
      if (row && !known.has(key)) {
        known.set(key, row);
        parent.insertBefore(row.element, before ? before.nextElementSibling : parent.firstElementChild);
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
    else order(parent, list.map(([key]) => known.get(key).element), document.activeElement?.closest("tbody > *") ?? null);
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
