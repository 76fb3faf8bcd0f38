// What every page does with JavaScript, and can do without.
import { listen } from "./keys.js";
import { freshen } from "./live.js";

listen(document);
freshen(document.getElementById("live"));

// A menu closes when one looks elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
