// Counts for as long as it lives: a clock finer than performance.now(), read by the worker that measures.
onmessage = ({ data }) => {
  const count = new Int32Array(data);
  for (let next = 1; ; next = (next + 1) | 0) Atomics.store(count, 0, next);
};
