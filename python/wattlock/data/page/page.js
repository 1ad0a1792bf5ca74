// The page: says what this device is, asks the server what to measure, and has it measured by fresh workers.

import { watchBattery } from "./battery.js";
import { why } from "./webcrypto.js";

const HEARTBEAT_MS = 4_000;
const HAND_ON_MS = 1_500;
const key = location.hash.slice(1);
const $ = (id) => document.getElementById(id);

const post = async (path, body, type = "application/json") => {
  const answer = await fetch(path, { method: "POST", body, headers: { "Content-Type": type } });
  const said = answer.status === 204 ? {} : await answer.json();
  if (!answer.ok) throw new Error(`${said.error}\n${said.hint}`);
  return said;
};

function list(id, lines) {
  $(id).replaceChildren(...lines.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
}

function say(text) {
  $("state").textContent = text;
}

// What the browser tells of the device: only what it says by itself.
async function told() {
  const agent = navigator.userAgentData;
  const more = (await agent?.getHighEntropyValues?.(["model", "platformVersion"]).catch(() => null)) ?? {};
  const platform = agent?.platform || (/(Android|iPhone|iPad|Windows|Mac|Linux)/.exec(navigator.userAgent) ?? ["unknown"])[0];
  return {
    user_agent: navigator.userAgent,
    model: more.model || null,
    platform: platform.toLowerCase(),
    platform_version: more.platformVersion || null,
    processors: navigator.hardwareConcurrency || null,
    is_isolated: crossOriginIsolated,
    without_webcrypto: why(),
  };
}

// A second thread counts where there are two processors for it, and memory may be shared.
function startTicker(device) {
  if (device?.has_ticker === false || !crossOriginIsolated || (navigator.hardwareConcurrency || 1) < 2) return null;
  const ticker = new SharedArrayBuffer(4);
  const worker = new Worker("ticker.js");
  worker.postMessage(ticker);
  return { ticker, end: () => worker.terminate() };
}

// One process: a worker of its own, ended when it has answered. While a battery is discharged no second thread counts:
// its joules would be taken for the cipher's.
async function process(bytes, job, device, hear) {
  const discharges = job.verb === "measure" && JSON.parse(job.text.split("\n", 1)[0]).battery;
  const battery = discharges ? await watchBattery() : null;
  const beside = discharges ? null : startTicker(device);
  const worker = new Worker("worker.js", { type: "module" });
  const ended = new Promise((resolve) => {
    worker.onerror = (event) => resolve({ code: 102, complaint: event.message || "the worker can't be started" });
    let complaint = "";
    worker.onmessage = ({ data }) => {
      if (data.complaint) complaint = data.complaint;
      if (data.lines) hear(data.lines);
      if (data.code !== undefined) resolve({ ...data, complaint });
    };
  });
  worker.postMessage({ bytes, job, device, ticker: beside?.ticker ?? null, battery: battery?.shared ?? null });
  return ended.finally(() => {
    worker.terminate();
    beside?.end();
    battery?.end();
  });
}

async function carryOut(visit, bytes, job, device) {
  let waiting = [];
  let sentAt = performance.now();
  let sending = Promise.resolve();
  const handOn = () => {
    const lines = new Blob(waiting);
    [waiting, sentAt] = [[], performance.now()];
    sending = sending.then(() => post(`lines?visit=${visit}&job=${job.number}`, lines, "application/x-ndjson")).then(show);
    return sending;
  };
  let refuse;
  const refused = new Promise((_, reject) => (refuse = reject));
  const beat = setInterval(() => handOn().catch(refuse), HEARTBEAT_MS);
  try {
    const hear = (lines) => {
      waiting.push(lines);
      if (performance.now() - sentAt > HAND_ON_MS) handOn().catch(refuse);
    };
    const { code, complaint } = await Promise.race([process(bytes, job, device, hear), refused]);
    clearInterval(beat);
    await handOn();
    await post(`ended?visit=${visit}&job=${job.number}`, JSON.stringify({ code, complaint: complaint.slice(0, 2000) }));
  } finally {
    clearInterval(beat);
  }
}

function show(state) {
  if (state.said) say(state.said);
  if (state.of) {
    $("progress").hidden = false;
    [$("progress").value, $("progress").max] = [state.done, state.of];
  }
}

function table({ columns, rows }) {
  const cells = (kind, values) => values.map((text) => Object.assign(document.createElement(kind), { textContent: text }));
  const row = (kind, values) => {
    const made = document.createElement("tr");
    made.append(...cells(kind, values));
    return made;
  };
  const made = document.createElement("table");
  made.createTHead().append(row("th", columns));
  made.createTBody().append(...rows.map((values) => row("td", values)));
  $("result").replaceChildren(made);
  $("result").hidden = false;
}

async function measure(bytes, device) {
  $("start").disabled = true;
  const lock = await navigator.wakeLock?.request("screen").catch(() => null);
  try {
    const { visit } = await post("visit", JSON.stringify({ key, device }));
    for (;;) {
      const { job, state } = await post(`work?visit=${visit}`, "");
      show(state);
      if (job) await carryOut(visit, bytes, job, { ...device, module_sha256: job.module_sha256 });
      if (state.is_over) {
        $("progress").hidden = true;
        if (state.table) table(state.table);
        list("words", state.words);
        break;
      }
    }
  } catch (error) {
    say(error.message);
  } finally {
    await lock?.release();
    $("start").disabled = false;
  }
}

async function main() {
  $("home").hidden = location.pathname === "/"; // a lab has the page below its own
  const notes = [];
  if (!isSecureContext) notes.push("This address is no secure one: serve the page over https, or reach it over `adb reverse`.");
  notes.push("A page can't see disturbances: close what else runs, keep this page in front and the charger as it is.");
  const answer = await fetch("instrument.wasm");
  if (!answer.ok) throw new Error("the server has no module");
  const bytes = await answer.arrayBuffer();
  const found = await process(bytes, {}, null, () => {});
  if (!found.clock) throw new Error(`this browser can't run the module: ${found.complaint}`);
  const device = { ...(await told()), ...found.clock };
  if (!device.is_isolated) notes.unshift("The page is not isolated, so its clock is coarse: batches are long, and so is the run.");
  if (device.without_webcrypto) notes.push(`No WebCrypto: ${device.without_webcrypto}.`);
  const facts = {
    Device: device.model ?? device.platform,
    Processors: device.processors ?? "not told",
    Isolated: device.is_isolated ? "yes" : "no",
    Clock: `steps of ${device.step_ns / 1000} µs${device.has_ticker ? ", a second thread counts between them" : ""}`,
  };
  $("device").replaceChildren(
    ...Object.entries(facts).map(([name, value]) => {
      const line = document.createElement("div");
      line.append(Object.assign(document.createElement("dt"), { textContent: name }));
      line.append(Object.assign(document.createElement("dd"), { textContent: value }));
      return line;
    }),
  );
  list("notes", notes);
  $("start").onclick = () => measure(bytes, device);
  $("start").disabled = false;
  say("Ready.");
}

main().catch((error) => say(error.message));
