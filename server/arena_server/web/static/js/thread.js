// What takes long, away from the page's thread: the worker has a script of its own, a page that is one file has it
// inside.

function start() {
  const own = document.getElementById("worker");
  if (own === null) return new Worker(document.documentElement.dataset.worker, { type: "module" });
  return new Worker(URL.createObjectURL(new Blob([own.textContent], { type: "text/javascript" })));
}

/** What a worker answers to `message`; rejected where none starts. */
export function inWorker(message) {
  const thread = start();
  return new Promise((done, fail) => {
    thread.onmessage = ({ data }) => done(data);
    thread.onerror = fail;
    thread.postMessage(message);
  }).finally(() => thread.terminate());
}
