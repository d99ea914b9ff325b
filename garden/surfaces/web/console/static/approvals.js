// The queue by keyboard, and the times that run out.
"use strict";

const questions = () => [...document.querySelectorAll(".question")];
const selected = () => document.activeElement?.closest(".question");

function move(by) {
  const all = questions();
  const at = all.indexOf(selected());
  const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
  next?.focus({preventScroll: true});
  next?.scrollIntoView({block: "nearest"});
}

function use(part) {
  if (!part) return;
  if (part.matches("form")) part.requestSubmit();
  else if (part.matches("a")) part.click();
  else { part.open = true; part.querySelector("input[name=reason]").focus(); }
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  u: () => use(document.querySelector("#outcome [data-key=u]:not([hidden])")),
  "?": () => { const list = document.getElementById("keys"); if (list) list.open = !list.open; },
};
for (const key of "ade") keys[key] = () => use(selected()?.querySelector(`[data-key=${key}]`));

document.addEventListener("keydown", (event) => {
  const inField = event.target.matches("input, textarea, select");
  if (inField && event.key === "Escape") return event.target.closest(".question")?.focus();
  if (inField || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

// By the browser's own clock of seconds, which no one sets back.
const ends = new WeakMap();

function countDown() {
  for (const each of document.querySelectorAll(".left")) {
    if (!ends.has(each)) ends.set(each, performance.now() + 1000 * each.dataset.seconds);
    const left = Math.max(0, Math.ceil((ends.get(each) - performance.now()) / 1000));
    each.textContent = left >= 7200 ? `${Math.floor(left / 3600)} h` : left >= 120 ? `${Math.floor(left / 60)} min` : `${left} s`;
    const form = each.closest("[data-ends]");
    if (form) form.hidden = left === 0;
  }
}

countDown();
setInterval(countDown, 1000);
document.addEventListener("garden:replaced", countDown);
