// An author registers a bot by a link of the organiser's. The code is in the fragment of the address, which no server logs.

import { applyTheme, el, pageHeader } from "./dom.js";
import { said } from "./said.js";
import { t } from "./texts.js";

const FIELDS = [["name", t`Name of the bot`, 32, true], ["author", t`Author`, 60, false], ["language", t`Language`, 60, false], ["url", "URL", 200, false]];

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const message = el("p", { class: "error-line", role: "alert" });
const [contest, code] = location.hash.slice(1).split("/").map(decodeURIComponent);

function begin() {
  const inputs = FIELDS.map(([key, title, most, required]) => [key, title, el("input", { type: key === "url" ? "url" : "text", id: key, maxlength: most, required, autocomplete: "off" })]);
  main.replaceChildren(el("h1", {}, t`Register a bot`), el("p", { class: "sub" }, t`For the contest ${contest}. This link works once; the name has letters, digits, "_", "." and "-".`),
    el("form", { class: "panel", onsubmit: (event) => { event.preventDefault(); register(Object.fromEntries(inputs.map(([key, , input]) => [key, input.value.trim()]))); } },
      ...inputs.map(([key, title, input]) => el("p", { class: "filters" }, el("label", { for: key }, title, input))), el("button", { type: "submit", class: "primary" }, t`Register`)), message);
}

async function register(given) {
  message.textContent = "";
  try {
    const response = await fetch("api/v1/register", { method: "POST", body: JSON.stringify({ ...given, contest, code }) });
    const answer = await response.json();
    if (!response.ok) throw new Error(said(answer.error));
    history.replaceState(null, "", location.pathname);
    main.replaceChildren(el("h1", {}, t`${answer.name} is registered`), el("section", { class: "panel" },
      el("p", {}, t`Its token, which is shown only now: `, el("code", {}, answer.token)),
      el("p", { class: "sub" }, answer.submit ? t`Keep it: you send versions of the bot with it, and the server has its digest alone. If it is lost, ask the organiser for a new one.`
        : t`Keep it: the bot logs in with it, and the server has its digest alone. If it is lost, ask the organiser for a new one.`),
      el("p", {}, el("code", {}, answer.submit ? `ARENA_TOKEN=${answer.token} arena submit ./${answer.name} --connect ${location.origin} --name ${answer.name} --contest ${contest}`
        : `HELLO 1 ${answer.name} token=${answer.token} contest=${contest}`))));
  } catch (error) {
    message.textContent = error.message === "Failed to fetch" ? t`The server does not answer.` : error.message;
  }
}

if (contest && code) begin();
else main.replaceChildren(el("h1", {}, t`Register a bot`), el("p", { class: "empty" }, t`This page needs the link that the organiser has sent you.`));
