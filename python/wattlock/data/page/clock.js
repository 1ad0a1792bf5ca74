// The time that a worker measures by, in nanoseconds.

const NS = 1e6; // of a millisecond
const STEPS_SEEN = 60;
const LONGEST_LOOK_MS = 400;

// The step of performance.now(): the least by which it was seen to rise.
export function stepNs() {
  const start = performance.now();
  let [last, least] = [start, Infinity];
  for (let seen = 0; seen < STEPS_SEEN && last - start < LONGEST_LOOK_MS; ) {
    const now = performance.now();
    if (now > last) {
      least = Math.min(least, now - last);
      [last, seen] = [now, seen + 1];
    }
  }
  return Math.max(1, Math.round(least * NS));
}

// How far ticker and performance.now() may be apart: either read may be late by a step, and the ticker's rate by 0.5 %.
const STEPS_APART = 1.1;
const SHARE_APART = 0.005;
// The ticker's rate is taken over so long; a step of 5 us is 0.025 % of it.
const RATE_MS = 20;

// A clock that goes by the ticker between the steps of performance.now(), and by those where the ticker stood still or
// ran at another rate: over some steps no time is shorter than they tell.
//
// * `count`: what the ticker counts, null without one; `step`: of performance.now(), in nanoseconds.
// * Returns the clock and `apart`, how often the two did not agree so far.
export function clock(count, step) {
  if (count === null) return { nowNs: () => performance.now() * NS, apart: () => 0 };
  const read = () => Atomics.load(count, 0);
  let [anchorMs, anchorCount, isEven] = [performance.now(), read(), true];
  while (performance.now() - anchorMs < RATE_MS);
  let [atMs, at] = [performance.now(), read()];
  let rate = ((atMs - anchorMs) * NS) / Math.max(1, (at - anchorCount) >>> 0);
  let [timeNs, apart] = [atMs * NS, 0];
  const nowNs = () => {
    const [count, nowMs] = [read(), performance.now()];
    const [byTicker, bySteps] = [((count - at) >>> 0) * rate, (nowMs - atMs) * NS];
    const agree = Math.abs(byTicker - bySteps) <= STEPS_APART * step + SHARE_APART * bySteps;
    timeNs += agree ? byTicker : bySteps;
    apart += agree ? 0 : 1;
    [atMs, at, isEven] = [nowMs, count, isEven && agree];
    if (nowMs - anchorMs >= RATE_MS) {
      const counted = (count - anchorCount) >>> 0;
      if (isEven && counted > 0) rate = ((nowMs - anchorMs) * NS) / counted;
      [anchorMs, anchorCount, isEven] = [nowMs, count, true];
    }
    return timeNs;
  };
  return { nowNs, apart: () => apart };
}
