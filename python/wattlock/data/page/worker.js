// One process of a run: a worker and a module of its own.
//
// It is told `{bytes, job, device, ticker, battery}`, answers `{lines}` and `{complaint}` as they come, and last `{code}`.
// A job without a verb looks at the clock and finds how long canary and burst have to be: `{clock}`.

import { clock, stepNs } from "./clock.js";
import { instrument } from "./instrument.js";

// A browser compiles a module a second time, optimised, beside what runs: by then it has. Twice, for what is called from
// there is found to be used much only then.
const COMPILED_MS = 300;
const WARMINGS = 2;
// What a step may hide is left out where batches are judged: 2 steps of 60, and 2 %. Longer canaries are interrupted
// more often, shorter ones hide more: so they last 60 steps, fewer where those are longer than 300 us, but 20 at least.
// With a ticker 20 are enough: over so many it is seen that it stood still.
const STEPS = 60;
const LEAST_STEPS = 20;
const CANARY_NS = 300_000;
const LEAST_MULTIPLICATIONS = 12_000;
const LEAST_ADDITIONS = 48_000;
// A trial lasts up to twice as long, which is shorter than what a program has until another has its turn (3 ms), so that the
// least of them was not cut; by a clock of coarser steps it lasts 50 of them, within reason.
const TRIAL_MS = 1.4;
const TRIAL_STEPS = 50;
const LONGEST_TRIAL_MS = 50;
const PASSES = 30;
// A ticker is no clock where it doesn't agree with performance.now() in so many of the trials.
const TRIALS = 100;
const MOST_APART = 5;

onmessage = async ({ data: { bytes, job, device, ticker, battery } }) => {
  const count = ticker ? new Int32Array(ticker) : null;
  const step = device?.step_ns ?? stepNs();
  const { nowNs, apart } = clock(count, step);
  const complain = (complaint) => postMessage({ complaint });
  try {
    let write = (lines) => postMessage({ lines }, [lines.buffer]);
    const made = await instrument(bytes, nowNs, (lines) => write(lines), complain, battery);
    if (!job.verb) {
      // In the first passes the loops are not optimised yet.
      each(made.multiply, LEAST_MULTIPLICATIONS, step);
      each(made.add, LEAST_ADDITIONS, step);
      await compiled();
      postMessage({ clock: lengths(made, step, count !== null && isSteady(nowNs, apart, step)), code: 0 });
      return;
    }
    const question = { verb: job.verb, text: job.text, device };
    if (job.verb === "measure") {
      const keep = write;
      write = () => {};
      for (let pass = 0; pass < WARMINGS; pass++) {
        await made.ask({ ...question, verb: "warm" });
        await compiled();
      }
      write = keep;
    }
    postMessage({ code: await made.ask(question) });
  } catch (error) {
    complain(String(error));
    postMessage({ code: 101 });
  }
};

function compiled() {
  return new Promise((done) => setTimeout(done, COMPILED_MS));
}

// Whether the ticker goes on beside this thread: tried over as long as a canary.
function isSteady(nowNs, apart, step) {
  nowNs();
  const before = apart();
  for (let trial = 0; trial < TRIALS; trial++) {
    const until = performance.now() + (LEAST_STEPS * step) / 1e6;
    while (performance.now() < until);
    nowNs();
  }
  return apart() - before <= MOST_APART;
}

// Canary and burst in loops, so long that a step of the clock is no more than its share of them.
function lengths({ multiply, add }, step, hasTicker) {
  const leastNs = Math.max(LEAST_STEPS * step, hasTicker ? 0 : Math.min(STEPS * step, CANARY_NS));
  const long = (loop, least) => Math.max(least, Math.ceil(leastNs / each(loop, least, step) / 1000) * 1000);
  return {
    step_ns: step,
    has_ticker: hasTicker,
    multiplications: long(multiply, LEAST_MULTIPLICATIONS),
    additions: long(add, LEAST_ADDITIONS),
  };
}

// Nanoseconds of one turn of a loop, once the browser has compiled it: the least of some passes, which nothing held up.
function each(loop, turns, step) {
  const trialMs = Math.max(TRIAL_MS, Math.min(LONGEST_TRIAL_MS, (TRIAL_STEPS * step) / 1e6));
  let least = Infinity;
  for (let pass = 0; pass < PASSES; pass++) {
    const start = performance.now();
    loop(turns);
    const tookMs = performance.now() - start;
    if (tookMs < trialMs) [turns, pass, least] = [turns * 2, -1, Infinity];
    else least = Math.min(least, (tookMs * 1e6) / turns);
  }
  return least;
}
