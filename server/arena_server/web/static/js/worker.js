// What pages have done away from their thread. {record} in, {problem} out (null: it verifies). With `listed` it has to
// be as the contest lists it, and with `chain` and the record's `bytes` it has to be part of the chain.
// {frames, width, height} in, the bytes of a GIF out, in parts.

import { encodeGif } from "./gif.js";
import { RecordError } from "./record.js";
import { verify, verifyChain, verifyListed } from "./verify.js";

self.onmessage = ({ data }) => {
  if (data.frames) return self.postMessage(encodeGif(data.width, data.height, data.frames));
  try {
    verify(data.record);
    if (data.listed) verifyListed(data.record, data.listed);
    if (data.chain) verifyChain(data.bytes, data.chain);
    return self.postMessage({ problem: null });
  } catch (error) {
    const problem = error instanceof RecordError ? error.message : `the check failed: ${error.message}`;
    return self.postMessage({ problem });
  }
};
