// The slider over versions shows each version's text while it moves, without loading the whole page again.
"use strict";

const form = document.querySelector("form[data-versions]");
const slider = form?.querySelector("input[type=range]");
let wanted = null;
let isReading = false;

async function follow() {
  if (isReading) return;
  isReading = true;
  while (wanted !== null) {
    const address = wanted;
    wanted = null;
    try {
      const answer = await fetch(address, {headers: {Accept: "text/html"}});
      if (answer.redirected || answer.status >= 500) { location.href = address; return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const [old, now] = [document, page].map((each) => each.getElementById("document.shown"));
      if (!now) continue;
      old.replaceWith(document.adoptNode(now));
      history.replaceState(null, "", address);
    } catch {
      // The service is away; the button of the form still asks for this version.
    }
  }
  isReading = false;
}

slider?.addEventListener("input", () => {
  slider.setAttribute("aria-valuetext", `Version ${slider.value} of ${slider.max}`);
  wanted = `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;
  follow();
});
