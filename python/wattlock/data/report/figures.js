"use strict";
// The figures: drawn when they come near, kept from then on; their colours are the page's own variables.
{
  const config = JSON.parse(document.querySelector(".config").textContent);
  const figures = [...document.querySelectorAll("figure:has(.spec)")];
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
      link.download = `${figure.dataset.name ?? "figure"}.svg`;
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
  // Paper shows all that is printed, and a print may come without a scroll.
  let opened = [];
  addEventListener("beforeprint", () => {
    const printed = "details.printed, details.printed details";
    opened = [...document.querySelectorAll(printed)].filter((fold) => !fold.open);
    opened.forEach((fold) => { fold.open = true; });
    figures.filter((figure) => !figure.closest(".unprinted")).forEach(draw);
  });
  addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));
}
