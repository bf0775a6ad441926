// Verifies records away from the page's thread: a record in, {problem} out (null: it verifies).

import { RecordError } from "./record.js";
import { verify } from "./verify.js";

self.onmessage = ({ data }) => {
  try {
    verify(data);
    self.postMessage({ problem: null });
  } catch (error) {
    self.postMessage({ problem: error instanceof RecordError ? error.message : `the check failed: ${error.message}` });
  }
};
