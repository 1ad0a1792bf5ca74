"use strict";
// The figures of a comparison follow the filter of its table: one that has no case left is hidden.
{
  const rows = [...document.querySelectorAll("#case-table tbody tr")];
  // A row that names no group is of the one above it.
  let group = "";
  for (const row of rows) group = row.dataset.group ??= group;
  const figures = [...document.querySelectorAll("figure[data-group]")];
  const follow = () => {
    const left = new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.group));
    figures.forEach((figure) => { figure.hidden = !left.has(figure.dataset.group); });
  };
  document.getElementById("filter").addEventListener("input", follow);
  document.getElementById("state").addEventListener("change", follow);
  // A reload may have kept words.
  follow();
}
