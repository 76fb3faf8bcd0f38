// The bank changes, or something passes, while a page is open: whoever shows it is told, at once and then not more often
// than it can follow.
const PAUSE = 400;
const HEARD = { stale: ["change", "reset"], passed: ["recall", "transition"] };

export function freshen(live) {
  if (!live) return;
  for (const [told, names] of Object.entries(HEARD)) follow(live, told, names);
}

function follow(live, told, names) {
  let waiting = null;
  let again = false;
  const tell = () => {
    live.dispatchEvent(new CustomEvent(told));
    waiting = setTimeout(() => {
      waiting = null;
      if (again) {
        again = false;
        tell();
      }
    }, PAUSE);
  };
  for (const name of names) {
    live.addEventListener(name, () => {
      if (waiting === null) tell();
      else again = true;
    });
  }
}
