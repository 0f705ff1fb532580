// What the events say of queues, and how it looks.

import { chart } from "./chart.js";
import { el, number, plain } from "./dom.js";

/** The speed of a counter at each of the points but the first. */
export const speeds = (points, name) =>
  points.slice(1).map((point, i) => Math.max(0, (point[name] - points[i][name]) * 1000 / Math.max(point.ms - points[i].ms, 1)));

export const rate = (value) => (value < 10 ? Math.round(value * 10) / 10 : number(Math.round(value))) + "/s";

export const liveCharts = (points) => {
  const times = points.slice(1).map((point) => point.ms);
  return [
    chart("Throughput", times, [{ name: "pushed", values: speeds(points, "pushed") }, { name: "done", values: speeds(points, "acked") },
      { name: "failed", values: speeds(points, "retried") }], { unit: rate, empty: "It is being measured." }),
    chart("Waiting", times, [{ name: "ready", values: points.slice(1).map((point) => point.ready) },
      { name: "in work", values: points.slice(1).map((point) => point.leased) }], { empty: "It is being measured." })];
};

export const badges = (counts) => [
  counts.paused && el("span", { class: "badge warn" }, "paused"),
  counts.evicting && el("span", { class: "badge bad" }, "evicting"),
  counts.outbox > 0 && el("span", { class: "badge warn", title: plain(counts.outbox_error) }, "outbox " + number(counts.outbox))];
