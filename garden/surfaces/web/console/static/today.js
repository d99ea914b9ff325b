// A large garden takes a moment to look through, so Today comes first and what needs a person follows.
"use strict";

const place = document.querySelector("[data-load]");
const LOAD_AGAIN_MS = 30000;
let loadedAt = -LOAD_AGAIN_MS;

async function load() {
  if (performance.now() - loadedAt < LOAD_AGAIN_MS) return;
  loadedAt = performance.now();
  const answer = await fetch(place.dataset.load, {headers: {Accept: "text/html"}}).catch(() => null);
  if (!answer?.ok || answer.redirected || place.contains(document.activeElement)) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = page.getElementById(place.id);
  place.replaceChildren(...found.childNodes);
}

if (place) {
  load();
  document.addEventListener("garden:replaced", load);
}
