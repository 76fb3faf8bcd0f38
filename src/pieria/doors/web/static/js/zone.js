// The server makes times for the zone of whoever reads. What the browser's is, it learns by a cookie, from the next page on.
const YEAR = 31536000;

// The very first page was made before: where it goes by other clocks, it offers to be made anew.
export function tellZone(offer) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone) return;
  document.cookie = `pieria-browser-zone=${zone}; path=/; max-age=${YEAR}; samesite=lax`;
  if (!offer || offer.dataset.zone === zone) return;
  offer.querySelector("b").textContent = zone;
  offer.hidden = false;
}
