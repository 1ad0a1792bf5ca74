"use strict";
// The table of cases: filter by words and state.
{
  const table = document.getElementById("case-table");
  const rows = [...table.tBodies[0].rows];
  const words = document.getElementById("filter");
  const state = document.getElementById("state");
  const shown = document.getElementById("shown");
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());

  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      const fits = (!state.value || row.dataset.state === state.value) && wanted.every((word) => texts[index].includes(word));
      row.hidden = !fits;
      count += fits;
    });
    shown.textContent = count === rows.length ? `${count} cases` : `${count} of ${rows.length} cases`;
  };
  words.addEventListener("input", filter);
  state.addEventListener("change", filter);
  words.form.addEventListener("submit", (event) => event.preventDefault());
}
