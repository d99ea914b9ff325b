// What pages do beyond reading: follow the garden live, and send a form when its slider or choice changes.
"use strict";

// Elements with data-live show the garden as it is; they are read again when an event arrives. In a busy garden
// each reading doubles the pause before the next, until it is quiet for twice as long.
const live = () => document.querySelectorAll("[data-live]");
let reading = null, planned = 0, readAt = -15000, pause = 0, retry = 2500;

function readSoon() {
  if (planned) return;
  const passed = performance.now() - readAt;
  pause = passed > 2 * pause ? 500 : Math.min(2 * pause, 15000);
  planned = setTimeout(readAgain, pause - passed);
}

async function readAgain() {
  planned = 0;
  readAt = performance.now();
  reading?.abort();
  reading = new AbortController();
  try {
    const answer = await fetch(location.href, {headers: {Accept: "text/html"}, signal: reading.signal});
    // The person has signed out in another tab: what is shown must not stay.
    if (answer.redirected) location.reload();
    if (answer.redirected || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of live()) {
      const now = page.getElementById(old.id);
      const inUse = [...old.querySelectorAll("input, textarea, select")].some((each) =>
        each === document.activeElement || each.value !== (each.defaultValue ?? each.value));
      if (now && !inUse && now.innerHTML !== old.innerHTML) replace(old, now);
    }
  } catch {
    // The service is away, and the stream says when it is back; or a later reading has begun.
  }
}

// What a person has opened stays open, and what has the focus keeps it.
function replace(old, now) {
  const focused = document.activeElement;
  const open = [...old.querySelectorAll("details[open]")];
  const same = [focused, ...open].map((each) => old.contains(each) && sameAs(each, now));
  old.replaceChildren(...now.childNodes);
  for (const each of same.slice(1)) if (each) each.open = true;
  if (same[0]) same[0].focus({preventScroll: true});
  document.dispatchEvent(new CustomEvent("garden:replaced", {detail: old}));
}

// The element of a page that was read again that one of the page as it was has become.
function sameAs(element, now) {
  const href = element.getAttribute("href"), holder = element.closest("[id]");
  if (href) return now.querySelector(`a[href="${CSS.escape(href)}"]`);
  const after = now.ownerDocument.getElementById(holder.id);
  const index = [...holder.querySelectorAll(element.localName)].indexOf(element);
  return index < 0 ? after : after?.querySelectorAll(element.localName)[index];
}

let stream = null;
let wasLost = false;

function follow() {
  stream?.close();
  stream = new EventSource("/console/live");
  stream.onopen = () => { document.body.dataset.stream = "open"; retry = 2500; if (wasLost) readSoon(); wasLost = false; };
  stream.onerror = () => {
    lose();
    // The browser tries again by itself, but not after a refusal, as by a service that is starting.
    if (stream.readyState !== EventSource.CLOSED) return;
    readSoon();
    setTimeout(() => document.hidden || follow(), retry = Math.min(2 * retry, 60000));
  };
  for (const what of ["committed", "failed", "annotated", "notice"]) stream.addEventListener(what, readSoon);
}

function lose() { document.body.dataset.stream = "lost"; wasLost = true; }

if (live().length) {
  if (!document.hidden) follow();
  // A browser has six connections to a host for all of its tabs: those that no one looks at give theirs back.
  document.addEventListener("visibilitychange", () => {
    pause = 0;
    if (!document.hidden) return follow();
    stream?.close();
    lose();
  });
}

document.addEventListener("change", (event) => {
  if (event.target.closest("form[data-send-on-change]")) event.target.form.requestSubmit();
});
