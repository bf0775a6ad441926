// The live streams of all pages of a browser in one connection. From a page: {add, address, last}, {remove} or {check};
// to it: what a listener of a Feed gets, with the number of the stream as `add` names it.

import { Feeds } from "./feed.js";

const feeds = new Feeds("api/v1/");

self.onconnect = ({ ports: [port] }) => {
  const listeners = new Map();
  port.onmessage = ({ data }) => {
    if (data.add !== undefined) {
      const listener = { last: data.last, send: (message) => port.postMessage({ ...message, of: data.add }) };
      listeners.set(data.add, { address: data.address, listener });
      feeds.add(data.address, listener);
    } else if (data.remove !== undefined) {
      const { address, listener } = listeners.get(data.remove);
      listeners.delete(data.remove);
      feeds.remove(address, listener);
    } else feeds.check();
  };
  // A page that has crashed takes nothing back, and its seat would count as watched: where the browser says so.
  port.onclose = () => {
    for (const { address, listener } of listeners.values()) feeds.remove(address, listener);
    listeners.clear();
  };
};
