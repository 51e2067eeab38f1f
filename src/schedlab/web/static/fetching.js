// Asks a server for blocks and unpacks them beside the page (as a worker), which goes on moving meanwhile.

import { unpack } from "./block.js";

self.onmessage = async ({ data: { number, address } }) => {
  try {
    const answer = await fetch(address);
    if (!answer.ok) {
      const { error, hint } = await answer.json().catch(() => ({ error: `the server answers ${answer.status}`, hint: "" }));
      self.postMessage({ number, error, hint });
      return;
    }
    const columns = unpack(await answer.arrayBuffer());
    const buffers = new Set(Object.values(columns).filter(ArrayBuffer.isView).map(({ buffer }) => buffer));
    self.postMessage({ number, columns }, [...buffers]);
  } catch (error) {
    self.postMessage({ number, error: `the server cannot be reached (${error.message})`, hint: "is it still running?" });
  }
};
