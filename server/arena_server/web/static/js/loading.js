// When a page is loaded: a browser that prints it by command, or takes its picture, does so at the event `load`.

/** No network is so slow that a page is never loaded. */
const LONGEST_MS = 10_000;

/** The page is loaded once `work` is over; gives `work`. Only a script that runs before that event may call it. */
export function loadedAfter(work) {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  document.body.append(frame);
  // A page waits for the documents of its frames, and this one is open: it may be written to.
  frame.contentDocument.open();
  const end = () => {
    if (!frame.isConnected) return;
    frame.contentDocument.close();
    frame.remove();
  };
  setTimeout(end, LONGEST_MS);
  // Who awaits `work` goes first, and may let the page wait for more.
  const later = () => queueMicrotask(end);
  work.then(later, later);
  return work;
}
