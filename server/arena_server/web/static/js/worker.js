// Verifies records away from the page's thread: {record} in, {problem} out (null: it verifies). With `listed` it has to
// be
// as the contest lists it, and with `chain` and the record's `bytes` it has to be part of the chain.

import { RecordError } from "./record.js";
import { verify, verifyChain, verifyListed } from "./verify.js";

self.onmessage = ({ data }) => {
  try {
    verify(data.record);
    if (data.listed) verifyListed(data.record, data.listed);
    if (data.chain) verifyChain(data.bytes, data.chain);
    self.postMessage({ problem: null });
  } catch (error) {
    self.postMessage({ problem: error instanceof RecordError ? error.message : `the check failed: ${error.message}` });
  }
};
