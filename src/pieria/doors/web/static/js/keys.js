// The keyboard: a table of keys and what each does. The pages bring their own letters, in the links that lead to them.
const items = () => [...document.querySelectorAll("[data-item]")].filter((each) => each.getClientRects().length);

// What of an item is reached: what leads on from it or, where nothing does, the item itself.
function handle(item) {
  const found = item.matches("a, button, [tabindex]") ? item : item.querySelector("a, button");
  if (!found) item.tabIndex = -1;
  return found ?? item;
}

function move(step) {
  const all = items();
  const at = all.findIndex((each) => each.contains(document.activeElement));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
  if (!next) return;
  handle(next).focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function search() {
  const field = document.querySelector("[data-search]");
  field?.focus();
  field?.select();
}

// Whoever switched them off may dictate, or read by letters: to them a single character is no key.
const areOn = document.documentElement.dataset.keys !== "off";
const isHeard = (key) => areOn || key.length > 1;
const help = () => document.getElementById("help");
const pages = () => [...document.querySelectorAll(".pages [data-key]")];

const KEYS = [
  { key: "/", says: "Search", does: search },
  { key: "j", says: "Next in the list", does: () => move(1) },
  { key: "k", says: "The one before", does: () => move(-1) },
  { key: "Enter", says: "Open it" },
  { key: "?", says: "This help", does: () => help()?.showModal() },
  { key: "Escape", sign: "Esc", says: "Leave a field, close a menu or this" },
];
const PATIENCE = 1500;

function describe() {
  const list = help()?.querySelector(".keys");
  if (!list) return;
  const rows = [
    ...KEYS.filter((each) => isHeard(each.key)).map((each) => [[each.sign ?? each.key], each.says]),
    ...pages().filter((link) => isHeard(link.dataset.key)).map((link) => [["g", link.dataset.key], `${link.textContent}: ${link.dataset.about}`]),
  ];
  list.replaceChildren(...rows.flatMap(([keys, says]) => {
    const term = document.createElement("dt");
    const told = document.createElement("dd");
    told.textContent = says;
    for (const key of keys) {
      const sign = document.createElement("kbd");
      sign.textContent = key;
      term.append(sign, " ");
    }
    return [term, told];
  }));
}

const isTyped = (target) => target.matches?.("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");

export function listen(root) {
  let going = 0;
  describe();
  const button = root.querySelector("[data-help]");
  if (button) {
    button.addEventListener("click", () => help()?.showModal());
  }
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help()?.open) return;
    if (isTyped(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!isHeard(event.key)) return;
    if (event.timeStamp < going) {
      going = 0;
      const link = pages().find((each) => each.dataset.key === event.key);
      if (link) {
        event.preventDefault();
        link.click();
        return;
      }
    }
    if (event.key === "g") {
      going = event.timeStamp + PATIENCE;
      return;
    }
    const found = KEYS.find((each) => each.key === event.key && each.does);
    if (found) {
      event.preventDefault();
      found.does();
    }
  });
}
