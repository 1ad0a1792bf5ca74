"use strict";
// A link to a part opens the fold that holds it.
{
  const SETTLED_MS = 3000;
  let target = null;
  let until = 0;
  const land = () => {
    if (target && performance.now() < until) target.scrollIntoView({ behavior: "instant" });
  };
  const go = () => {
    target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (fold) fold.open = true;
    until = performance.now() + SETTLED_MS;
    land();
  };
  // Whoever scrolls on is let go.
  for (const event of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(event, () => { target = null; }, { passive: true });
  }
  new ResizeObserver(land).observe(document.body);
  addEventListener("hashchange", go);
  // The same link a second time changes no hash.
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) go();
  });
  go();
  // Paper shows what a fold of its own holds.
  let opened = [];
  addEventListener("beforeprint", () => {
    const printed = "details.printed, details.printed details";
    opened = [...document.querySelectorAll(printed)].filter((fold) => !fold.open);
    opened.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));
}
