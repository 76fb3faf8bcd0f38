// What every page does with JavaScript, and can do without.
import { listen } from "./keys.js";
import { freshen } from "./live.js";
import { tellZone } from "./zone.js";

listen(document);
freshen(document.getElementById("live"));
tellZone(document.querySelector("[data-zone]"));

// Whoever is not answered is told, until there is an answer again; whoever is let in no more, for good.
const trouble = (is) => { document.getElementById("trouble").hidden = !is; };
document.addEventListener("htmx:error", () => trouble(true));
document.addEventListener("htmx:sse:error", (event) => {
  const isOut = event.detail.status === 401;
  if (isOut) document.getElementById("out").hidden = false;
  trouble(!isOut);
});
document.addEventListener("htmx:after:swap", () => trouble(false));
document.addEventListener("htmx:sse:after:connection", () => trouble(false));

// A form that is sent twice in a hurry was meant to be sent once.
const HURRY = 1000;
const sent = new WeakMap();
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.timeStamp - sent.get(event.target) < HURRY) event.preventDefault();
  else sent.set(event.target, event.timeStamp);
});

// Whoever sends a form of filters looks for what they leave: where these unfold, they are put away.
document.addEventListener("submit", (event) => {
  const fold = event.target.querySelector("details.fold[open]");
  if (!fold) return;
  if (fold.contains(document.activeElement)) fold.querySelector("summary").focus();
  fold.open = false;
});

// A menu closes when one looks elsewhere, or leaves it by the keyboard.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
