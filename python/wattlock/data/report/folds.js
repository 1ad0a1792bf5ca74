"use strict";
// A link to a folded part opens it.
{
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target && target.closest("details");
    if (fold) {
      fold.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  open();
}
