// Elements and texts. Text that others wrote reaches the page only by textContent, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat()
    .filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element; a function among the attributes listens to the event of that name. */
export const el = (name, attributes, ...children) =>
  fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

export const button = (text, click, kind = "") =>
  el("button", { type: "button", class: kind, click }, text);

/**
 * Text in one line. Characters that cannot be seen, or change the direction of text, become their
 * numbers.
 */
export const plain = (text) =>
  String(text).replace(
    /[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (c) => (c === "\n" ? "⏎ " : "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")));

/** The same, but with line ends and tabs kept. */
export const lines = (text) =>
  String(text).split("\n").map((line) => line.split("\t").map(plain).join("\t")).join("\n");

export const brief = (text, most = 160) => {
  const whole = plain(text);
  return whole.length > most ? whole.slice(0, most) + "…" : whole;
};

export const number = (value) => Number(value).toLocaleString("en").replaceAll(",", "\u202f");

/** As the shell writes it: "78ms", "1.2s", "1m30s", "2h5m", "3d4h". */
export function span(ms) {
  if (ms === null || ms === undefined || ms < 0) return "–";
  const seconds = Math.floor(ms / 1000), of = (unit, parts) => Math.floor(seconds / unit) % parts;
  if (ms < 1000) return Math.floor(ms) + "ms";
  if (seconds < 60) return seconds + "." + Math.floor(ms % 1000 / 100) + "s";
  if (seconds < 3600) return of(60, 60) + "m" + of(1, 60) + "s";
  if (seconds < 86400) return of(3600, 24) + "h" + of(60, 60) + "m";
  return Math.floor(seconds / 86400) + "d" + of(3600, 24) + "h";
}

/** "in 2m", "3h ago" */
export const away = (ms, now) => (ms > now ? "in " + span(ms - now) : span(now - ms) + " ago");

export const time = (ms) =>
  ms ? el("time", { datetime: new Date(ms).toISOString() },
    new Date(ms).toISOString().replace("T", " ").replace(/Z$/, " UTC")) : "–";

/** The same for a table: without fractions of a second, which the tooltip has. */
export const second = (ms) => {
  const shown = time(ms);
  if (ms) shown.setAttribute("title", shown.textContent);
  if (ms) shown.textContent = shown.textContent.replace(/\.\d+/, "");
  return shown;
};

export const size = (bytes) =>
  bytes < 1000 ? bytes + " B" : bytes < 1e6 ? (bytes / 1000).toFixed(1) + " kB"
    : (bytes / 1e6).toFixed(1) + " MB";

/** A link in this page; each part is encoded. */
export const path = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");

export function toast(text, bad = false) {
  const shown = el("p", { class: bad ? "bad" : "good" }, brief(text, 300));
  document.getElementById("toasts").append(shown);
  setTimeout(() => shown.remove(), bad ? 9000 : 4000);
}

/**
 * Asks the user in a dialog. Resolves to the value of the input, or to true without an input; null:
 * cancelled.
 */
export function ask(title, text,
    { yes = "OK", input = null, secret = false, danger = false } = {}) {
  return new Promise((resolve) => {
    const field = input === null ? null
      : el("input",
        { type: secret ? "password" : "text", value: input, "aria-label": title,
          autocomplete: "off", spellcheck: "false" });
    const end = (value) => {
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    const agree = () => end(field ? field.value : true);
    const dialog = el("dialog", { cancel: () => end(null), "aria-label": title },
      el("h2", null, title), el("p", null, text), field,
      el("div", { class: "row end" }, button("Cancel", () => end(null)),
        button(yes, agree, danger ? "danger" : "main")));
    field?.addEventListener("keydown", (event) => event.key === "Enter" && agree());
    document.body.append(dialog);
    dialog.showModal();
    (field ?? dialog.querySelector("button.main, button.danger")).focus();
  });
}
