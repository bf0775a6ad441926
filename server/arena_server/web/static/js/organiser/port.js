// Requests to the organiser's port. The token is sent in a header of each request, so no other site can give orders
// through this browser; it is kept for this tab only.

import { link } from "../dom.js";
import { t } from "../texts.js";

const KEPT = "arena-token";
/** Which one, where the server has several contests. */
export const contest = new URLSearchParams(location.search).get("contest");
let token = sessionStorage.getItem(KEPT);

export const hasToken = () => Boolean(token);

/** Use `given` from now on; it is kept once the server has taken it. */
export function useToken(given) {
  token = given;
}

export function keepToken() {
  sessionStorage.setItem(KEPT, token);
}

export function forgetToken() {
  token = null;
  sessionStorage.removeItem(KEPT);
}

/** What the organiser's port answers to a GET of `path`. */
export const ask = (path) => fetch(link(path, { contest }), { headers: { Authorization: `Bearer ${token}` } });

function send(path, body) {
  const wanted = { ...body, ...(contest === null ? {} : { contest }) };
  return fetch(path, { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: JSON.stringify(wanted) });
}

/**
 * The document at `path`, or the answer to `body`. Throws an Error with `status`, and the `contests` to choose from.
 */
export async function request(path, body = null) {
  const response = await (body === null ? ask(path) : send(path, body));
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const missing = response.status === 404 ? t`orders are taken on the admin port (--admin-port)` : response.statusText;
  const problem = answer.error || missing;
  throw Object.assign(new Error(problem), {
    status: response.status, contests: answer.contests, confirm: answer.confirm,
  });
}
