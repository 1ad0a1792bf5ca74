"use strict";
// The queue while jobs are under way: the lab sends the part that changed. Without script a reload shows the same.
{
  const live = document.getElementById("live");
  const source = new EventSource("/queue/events");
  source.onmessage = (event) => {
    const focused = document.activeElement?.getAttribute("aria-label");
    live.innerHTML = JSON.parse(event.data);
    if (focused) live.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  };
  source.addEventListener("over", () => source.close());
  source.addEventListener("denied", () => location.assign("/login"));
}
