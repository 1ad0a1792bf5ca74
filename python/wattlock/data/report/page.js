"use strict";
// The figures: drawn when they come near, kept from then on; their colours are the page's own variables.
{
  const config = JSON.parse(document.querySelector(".config").textContent);
  const figures = [...document.querySelectorAll("figure")];
  const drawn = new Map();

  const saveButton = (figure, view) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "Save as SVG";
    button.setAttribute("aria-label", `Save as SVG: ${figure.querySelector("strong").textContent}`);
    button.addEventListener("click", async () => {
      const style = getComputedStyle(document.documentElement);
      const svg = (await view.toSVG()).replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      link.download = "figure.svg";
      link.click();
      URL.revokeObjectURL(link.href);
    });
    figure.querySelector(".chart").after(button);
  };

  const draw = (figure) => {
    if (!drawn.has(figure)) {
      const chart = figure.querySelector(".chart");
      const spec = JSON.parse(figure.querySelector(".spec").textContent);
      const options = { config, renderer: "svg", actions: false, tooltip: { disableDefaultStyle: true } };
      drawn.set(figure, vegaEmbed(chart, spec, options).then(({ view }) => {
        chart.style.minHeight = "";
        saveButton(figure, view);
      }));
    }
    return drawn.get(figure);
  };

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        near.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "800px" });
  figures.forEach((figure) => near.observe(figure));
  // Paper shows all of them, and a print may come without a scroll.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("#ranking details, #trust details").forEach((fold) => { fold.open = true; });
    figures.forEach(draw);
  });
}
// The table of cells: filter by words and state, sort by a column.
{
  const table = document.getElementById("cell-table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
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
    shown.textContent = count === rows.length ? `${count} cells` : `${count} of ${rows.length} cells`;
  };
  words.addEventListener("input", filter);
  state.addEventListener("change", filter);
  words.form.addEventListener("submit", (event) => event.preventDefault());

  const value = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.classList.contains("n") ? null : cell.textContent;
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
      const keyed = rows.map((row) => [value(row, column), row]);
      // Empty cells stay last in both directions.
      keyed.sort(([a], [b]) => compare(a, b) * (down && a !== null && b !== null ? -1 : 1));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}
