// What every page does with JavaScript, and can do without.
import { listen } from "./keys.js";
import { freshen } from "./live.js";

listen(document);
freshen(document.getElementById("live"));

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

// A menu closes when one looks elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
