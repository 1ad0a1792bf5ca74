"use strict";
// The table of claims: shown are those whose verdict is ticked and of whose papers one is.
{
  const form = document.querySelector(".claims-filter");
  const groups = [...document.getElementById("verdict-table").tBodies];
  const rows = groups.flatMap((group) => [...group.rows].filter((row) => row.dataset.verdict));
  const output = form.querySelector("output");
  const ticked = (name) => new Set([...form.elements[name]].filter((box) => box.checked).map((box) => box.value));

  const filter = () => {
    const verdicts = ticked("verdict");
    const papers = ticked("paper");
    for (const row of rows) {
      row.hidden = !verdicts.has(row.dataset.verdict) || !row.dataset.papers.split(" ").some((paper) => papers.has(paper));
    }
    for (const group of groups) group.hidden = [...group.rows].every((row) => row.hidden || !row.dataset.verdict);
    const count = rows.filter((row) => !row.hidden).length;
    output.textContent = count === rows.length ? `${count} claims` : `${count} of ${rows.length} claims`;
  };
  form.hidden = false;
  form.addEventListener("change", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  // A reload may have kept ticks.
  filter();
}
