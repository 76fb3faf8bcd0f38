// The bank changes while a page is open: whoever shows it is told, at once and then not more often than it can follow.
const PAUSE = 400;

export function freshen(live) {
  if (!live) return;
  let waiting = null;
  let again = false;
  const tell = () => {
    live.dispatchEvent(new CustomEvent("stale"));
    waiting = setTimeout(() => {
      waiting = null;
      if (again) {
        again = false;
        tell();
      }
    }, PAUSE);
  };
  for (const name of ["change", "reset"]) {
    live.addEventListener(name, () => {
      if (waiting === null) tell();
      else again = true;
    });
  }
}
