// The module with its imports: made anew for each process of a run.

import { batteryImports } from "./battery.js";
import { webcrypto, why } from "./webcrypto.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// * `nowNs`: the clock; `write`: receives lines as bytes, `complain`: what went wrong as a text. `battery`: what the
//   page shares of its battery; null without.
// * Returns `ask`, which answers one question and gives its exit code, and the loops of canary and burst.
export async function instrument(bytes, nowNs, write, complain, battery = null) {
  const room = (start, lengthB) => new Uint8Array(exports.memory.buffer, start, lengthB);
  const page = {
    now_ns: nowNs,
    unix_ns: () => (performance.timeOrigin + performance.now()) * 1e6,
    write: (start, lengthB) => write(room(start, lengthB).slice()),
    complain: (start, lengthB) => complain(decoder.decode(room(start, lengthB).slice())),
    ...batteryImports(battery),
    ...webcrypto(room),
  };
  const { instance } = await WebAssembly.instantiate(bytes, { page });
  const { exports } = instance;
  const answer = why() === null ? WebAssembly.promising(exports.answer) : exports.answer;
  const ask = (question) => {
    const given = encoder.encode(JSON.stringify(question));
    const start = exports.room(given.length);
    room(start, given.length).set(given);
    return answer(start, given.length);
  };
  return { ask, multiply: exports.multiply, add: exports.add };
}
