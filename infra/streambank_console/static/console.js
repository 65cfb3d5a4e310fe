// Countdowns, times, keys and lines of the console's pages. Nothing here reads or sends what a page shows.
"use strict";
(() => {
  const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

  function span(seconds) {
    let left = Math.max(0, Math.round(seconds));
    const parts = [];
    for (const [size, unit] of UNITS) {
      const count = Math.floor(left / size);
      left -= count * size;
      if (count && parts.length < 2) parts.push(`${count} ${unit}`);
      else if (parts.length) break;
    }
    return parts.join(" ") || "0 s";
  }

  // The service's clock may be ahead of this machine's: local mode's can be moved.
  function now() {
    const frame = document.querySelector("[data-offset]");
    return Date.now() + (frame ? Number(frame.dataset.offset) : 0);
  }

  function tick() {
    if (document.hidden) return;
    for (const place of document.querySelectorAll("[data-due]")) {
      const seconds = (Number(place.dataset.due) - now()) / 1000;
      place.textContent = seconds > 0 ? `in ${span(seconds)}` : "due now";
    }
    for (const place of document.querySelectorAll("[data-since]")) {
      const seconds = (now() - Number(place.dataset.since)) / 1000;
      place.textContent = Math.abs(seconds) < 1 ? "now" : seconds > 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
    }
  }

  function tellVisibility() {
    if (window.emitEvent) window.emitEvent("console-visible", !document.hidden);
  }

  // Lines from each turn to the facts that cite it, and from each fact to its memories.
  function drawLines() {
    const picture = document.querySelector(".way");
    if (!picture) return;
    let svg = picture.querySelector("svg.lines");
    if (!svg) {
      svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      svg.setAttribute("class", "lines");
      svg.setAttribute("aria-hidden", "true");
      picture.prepend(svg);
    }
    const frame = picture.getBoundingClientRect();
    const lines = [];
    for (const end of picture.querySelectorAll("[data-from]")) {
      for (const name of end.dataset.from.split(" ").filter(Boolean)) {
        const start = picture.querySelector(`[data-node="${CSS.escape(name)}"]`);
        if (!start) continue;
        const a = start.getBoundingClientRect(), b = end.getBoundingClientRect();
        if (a.right > b.left) continue;
        const x1 = a.right - frame.left, y1 = a.top + Math.min(a.height / 2, 28) - frame.top;
        const x2 = b.left - frame.left, y2 = b.top + Math.min(b.height / 2, 28) - frame.top;
        const middle = (x1 + x2) / 2;
        const path = document.createElementNS(svg.namespaceURI, "path");
        path.setAttribute("d", `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`);
        if (start.classList.contains("focus") && end.classList.contains("focus")) path.setAttribute("class", "focus");
        lines.push(path);
      }
    }
    svg.setAttribute("width", frame.width);
    svg.setAttribute("height", frame.height);
    svg.replaceChildren(...lines);
  }

  // g then a letter goes to a page, / goes to the search field, ? shows the list. They can be turned off.
  let before = "";
  function onKey(event) {
    const typing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("console-keys") === "off") return;
    const link = before === "g" && document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    before = event.key;
    if (link) link.click();
    else if (event.key === "/") {
      const field = document.querySelector("[data-search]");
      if (field) { field.focus(); event.preventDefault(); }
    } else if (event.key === "?") {
      const help = document.querySelector("[data-keys-help]");
      if (help) { help.open = true; help.querySelector("summary").focus(); help.scrollIntoView(); }
    }
  }

  function start() {
    document.addEventListener("visibilitychange", () => { tellVisibility(); tick(); });
    document.addEventListener("keydown", onKey);
    document.addEventListener("change", (event) => {
      if (event.target.matches("[data-keys-switch]")) {
        localStorage.setItem("console-keys", event.target.checked ? "on" : "off");
      }
    });
    let waiting = 0;
    const redraw = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(drawLines); };
    window.addEventListener("resize", redraw);
    new MutationObserver((changes) => {
      if (changes.some((change) => !change.target.closest || !change.target.closest("svg.lines"))) redraw();
      const keys = document.querySelector("[data-keys-switch]");
      if (keys && !keys.dataset.ready) {
        keys.dataset.ready = "1";
        keys.checked = localStorage.getItem("console-keys") !== "off";
      }
    }).observe(document.body, { childList: true, subtree: true });
    setInterval(tick, 1000);
    redraw();
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
