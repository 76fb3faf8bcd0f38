// A day is easier found by sliding than by typing. The field beside it is what the form sends.
const DAY = 86400000;
const field = document.querySelector("[data-travel]");
const slider = document.querySelector("[data-slider]");

if (field && slider) {
  const first = Date.parse(slider.dataset.first);
  const days = Math.round((Date.parse(slider.dataset.last) - first) / DAY);
  // It is read aloud as the day that it stands for, and not as a number of days.
  const say = () => slider.setAttribute("aria-valuetext", field.value || "today");
  const place = () => {
    slider.value = field.value ? Math.round((Date.parse(field.value) - first) / DAY) : days;
    say();
  };
  slider.min = 0;
  slider.max = days;
  place();
  field.addEventListener("input", place);
  slider.addEventListener("input", () => {
    const chosen = Number(slider.value);
    field.value = chosen >= days ? "" : new Date(first + chosen * DAY).toISOString().slice(0, 10);
    say();
  });
}
