// Charts as inline SVG, which are redrawn in place.

import { el, number, span, svg } from "./dom.js";
import { put, set } from "./patch.js";

const HEIGHT = 170, TOP = 14, BOTTOM = 22, RIGHT = 8;
const LETTER = 7; // pixels of a letter in a label, at most

/** The path through points [x, y]; null is a gap, and a point between two gaps a dot. */
function line(points) {
  let drawn = "", before = null;
  points.forEach((point, i) => {
    if (point) drawn += (before ? "L" : "M") + point[0].toFixed(1) + " " + point[1].toFixed(1)
      + (!before && !points[i + 1] ? "h0" : "");
    before = point;
  });
  return drawn;
}

/** A line without axes. */
export function spark(label) {
  const width = 96, height = 24, path = svg("path", { class: "line a" });
  const show = (times, values) => {
    const most = Math.max(...values, 1), whole = Math.max(times.at(-1) - times[0], 1);
    set(path, "d", values.length < 2 ? ""
      : line(values.map((value, i) =>
        [(times[i] - times[0]) * width / whole, height - 2 - value / most * (height - 4)])));
  };
  return { show,
    element: svg("svg",
      { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label,
    preserveAspectRatio: "none" }, path) };
}

/** The next round number: 1, 2 or 5 times a power of ten. */
function ceiling(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * unit).find((step) => step >= value);
}

/**
 * A chart over time. show(times, series, until): series has a list of values for each name, one
 * value for each of the times (ms); null is a gap. until: the label of the last time. unit: formats
 * a value.
 */
export function chart(title, names, { unit = number, empty = "Nothing happened yet." } = {}) {
  const parts = [0, 0.5, 1], amounts = names.map(() => el("b"));
  const lines = parts.map(() => svg("line", { class: "grid" })),
    ticks = parts.map(() => svg("text", { class: "tick", "text-anchor": "end" }));
  const paths = names.map((name, i) => svg("path", { class: "line " + "abcd"[i] }));
  const begin = svg("text", { class: "tick" }),
    end = svg("text", { class: "tick", "text-anchor": "end" });
  const picture = svg("svg", { role: "img" }, lines, ticks, paths, begin, end),
    none = el("p", { class: "dim" }, empty);
  const element = el("figure", { class: "chart" }, el("figcaption", null, el("h3", null, title),
    names.map((name, i) => el("span", { class: "key " + "abcd"[i] }, name, " ", amounts[i]))),
  picture, none);
  let width = 560, last = null;

  function draw() {
    const [times, series, until] = last, few = times.length < 2;
    picture.toggleAttribute("hidden", few);
    none.hidden = !few;
    const latest = series
      .map((values) => (values.length && values.at(-1) !== null ? unit(values.at(-1)) : "–"));
    latest.forEach((text, i) => put(amounts[i], text));
    if (few) return;
    const most = ceiling(Math.max(1, ...series.flat())), first = times[0],
      whole = Math.max(times.at(-1) - first, 1);
    const labels = parts.map((part) => unit(part * most)),
      left = LETTER * Math.max(...labels.map((text) => text.length)) + 10;
    const x = (ms) => left + (ms - first) / whole * (width - left - RIGHT),
      y = (value) => TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM);
    const place = (text, atX, atY) => { set(text, "x", atX); set(text, "y", atY); };
    set(picture, "viewBox", `0 0 ${width} ${HEIGHT}`);
    set(picture, "aria-label",
      title + ": " + names.map((name, i) => `${name} ${latest[i]}`).join(", "));
    parts.forEach((part, i) => {
      const at = y(part * most);
      for (const [name, value] of Object.entries({ x1: left, x2: width - RIGHT, y1: at, y2: at }))
        set(lines[i], name, value);
      place(ticks[i], left - 6, at + 4);
      put(ticks[i], labels[i]);
    });
    series.forEach((values, i) => set(paths[i], "d",
      line(values.map((value, k) => value === null ? null : [x(times[k]), y(value)]))));
    place(begin, left, HEIGHT - 6);
    place(end, width - RIGHT, HEIGHT - 6);
    put(begin, span(whole) + " ago");
    put(end, until);
  }

  // The chart is drawn in pixels, so that a letter has the same size on a phone.
  new ResizeObserver(([{ contentRect }]) => {
    const now = Math.max(Math.round(contentRect.width), 120);
    if (now === width) return;
    width = now;
    if (last) draw();
  }).observe(element);
  const show = (times, series, until = "now") => {
    last = [times, series, until];
    draw();
  };
  show([], names.map(() => []));
  return { show, element };
}
