// Charts as inline SVG.

import { el, number, span, svg } from "./dom.js";

const line = (points) => points.map(([x, y], i) => (i ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1)).join("");

/** A line without axes. */
export function spark(values, label) {
  const width = 96, height = 24, most = Math.max(...values, 1);
  const points = values.map((value, i) => [i * width / Math.max(values.length - 1, 1), height - 2 - value / most * (height - 4)]);
  return svg("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none" },
    points.length > 1 && svg("path", { class: "line a", d: line(points) }));
}

/** A round number that is not less. */
function ceiling(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * unit).find((step) => step >= value);
}

/**
 * A chart of time: series are { name, values }, of the same length as times (ms); null is a gap.
 * unit: how a value is said.
 */
export function chart(title, times, series, { unit = number, empty = "Nothing happened yet." } = {}) {
  const width = 560, height = 170, left = 60, right = 8, top = 14, bottom = 22;
  const all = series.flatMap((one) => one.values).filter((value) => value !== null);
  const legend = series.map((one, i) => el("span", { class: "key " + "abcd"[i] }, one.name, " ",
    el("b", null, one.values.length && one.values.at(-1) !== null ? unit(one.values.at(-1)) : "–")));
  const head = el("figcaption", null, el("h3", null, title), legend);
  if (times.length < 2) return el("figure", { class: "chart" }, head, el("p", { class: "dim" }, empty));
  const most = ceiling(Math.max(...all, 1)), first = times[0], last = times.at(-1);
  const x = (ms) => left + (ms - first) / Math.max(last - first, 1) * (width - left - right);
  const y = (value) => top + (1 - value / most) * (height - top - bottom);
  const grid = [0, 0.5, 1].map((part) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: y(part * most), y2: y(part * most) }),
    svg("text", { class: "tick", x: left - 6, y: y(part * most) + 4, "text-anchor": "end" }, unit(part * most))]);
  const paths = series.map((one, i) => {
    const pieces = [[]];
    one.values.forEach((value, k) => value === null ? pieces.push([]) : pieces.at(-1).push([x(times[k]), y(value)]));
    return pieces.filter((piece) => piece.length).map((piece) => piece.length > 1
      ? svg("path", { class: "line " + "abcd"[i], d: line(piece) })
      : svg("circle", { class: "dot " + "abcd"[i], cx: piece[0][0], cy: piece[0][1], r: 2.5 }));
  });
  const label = title + ": " + series.map((one) => `${one.name} ${unit(one.values.at(-1) ?? 0)}`).join(", ");
  return el("figure", { class: "chart" }, head,
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, grid.flat(), paths.flat(),
      svg("text", { class: "tick", x: left, y: height - 6 }, span(last - first) + " ago"),
      svg("text", { class: "tick", x: width - right, y: height - 6, "text-anchor": "end" }, "now")));
}
