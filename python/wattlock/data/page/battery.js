// The level of the device's battery: the page may ask for it, and writes it where a worker reads it.

const EVERY_MS = 1_000;
const SHARED_B = 8;

// * Returns `shared`, in which the worker reads percent and whether it is charged, and `end`. Null where the browser
//   tells no level, or the page may share no memory.
export async function watchBattery() {
  const battery = crossOriginIsolated ? await navigator.getBattery?.().catch(() => null) : null;
  if (!battery) return null;
  const shared = new SharedArrayBuffer(SHARED_B);
  const told = new Int32Array(shared);
  const tell = () => {
    Atomics.store(told, 0, Math.round(battery.level * 100));
    Atomics.store(told, 1, battery.charging ? 1 : 0);
  };
  tell();
  const timer = setInterval(tell, EVERY_MS);
  return { shared, end: () => clearInterval(timer) };
}

// What the module imports: percent, below 0 without a battery, and 1 while it is charged.
export function batteryImports(shared) {
  const told = shared ? new Int32Array(shared) : null;
  return {
    battery_percent: () => (told ? Atomics.load(told, 0) : -1),
    battery_charges: () => (told ? Atomics.load(told, 1) : 0),
  };
}
