// The browser's own AES for the module, which is suspended until an answer is there.

const MODES = ["AES-CBC", "AES-CTR", "AES-GCM"];

// Why it can't be called; null where it can.
export function why() {
  if (!globalThis.crypto?.subtle) return "this page is in no secure context, so it has no WebCrypto";
  if (!("Suspending" in WebAssembly)) return "this browser can't suspend a module (JavaScript Promise Integration)";
  return null;
}

// * `room`: so many bytes of the module's memory from an address on.
export function webcrypto(room) {
  if (why() !== null) return { crypto_key: () => 0, crypto_run: () => -1, crypto_forget: () => {} };
  const keys = new Map();
  let number = 0;
  const key = async (mode, start, lengthB) => {
    try {
      const made = await crypto.subtle.importKey("raw", room(start, lengthB), MODES[mode], false, ["encrypt", "decrypt"]);
      keys.set(++number, made);
      return number;
    } catch {
      return 0;
    }
  };
  const run = async (key, decrypts, iv, ivB, aad, aadB, input, inputB, output, outputB) => {
    try {
      const made = keys.get(key);
      const { name } = made.algorithm;
      const start = room(iv, ivB);
      const how =
        name === "AES-CTR" ? { name, counter: start, length: 128 }
        : name === "AES-GCM" ? { name, iv: start, additionalData: room(aad, aadB) }
        : { name, iv: start };
      const text_in = room(input, inputB);
      const done = decrypts ? crypto.subtle.decrypt(how, made, text_in) : crypto.subtle.encrypt(how, made, text_in);
      const text = new Uint8Array(await done);
      if (text.length > outputB) return -1;
      room(output, text.length).set(text);
      return text.length;
    } catch {
      return -1;
    }
  };
  return {
    crypto_key: new WebAssembly.Suspending(key),
    crypto_run: new WebAssembly.Suspending(run),
    crypto_forget: (key) => keys.delete(key),
  };
}
