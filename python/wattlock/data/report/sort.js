"use strict";
// Tables that sort, each group of rows by itself: a button in each head, and the order told to those who don't see it.
for (const table of document.querySelectorAll("table.sortable")) {
  // A row that heads its group stays where it is.
  const groups = [...table.tBodies].map((body) => [body, [...body.rows].filter((row) => !row.querySelector("[scope=rowgroup]"))]);
  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    if (!cell.classList.contains("n")) return cell.textContent;
    // A number that stands there as it is sorted, with or without the unit that all of its column have.
    const plain = /^([−\d][\d,.]*)(?: cycles\/B)?$/.exec(cell.textContent);
    return plain ? Number(plain[1].replaceAll(",", "").replace("−", "-")) : null;
  };
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true });
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      for (const [body, rows] of groups) {
        const keyed = rows.map((row) => [value(row, column), row]);
        // Empty cells stay last in both directions.
        keyed.sort(([a], [b]) => compare(a, b) * (down && a !== null && b !== null ? -1 : 1));
        body.append(...keyed.map(([, row]) => row));
      }
    });
  });
}
