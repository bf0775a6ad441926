// An author registers a bot by a link of the organiser's. The code is in the fragment of the address, which no server
// logs.

import { copyButton } from "./copy.js";
import { applyTheme, el, NAME_PATTERN, pageHeader, sentence } from "./dom.js";
import { t } from "./texts.js";

const FIELDS = [["name", t`Name of the bot`, 32, true], ["author", t`Author`, 60, false],
  ["language", t`Language`, 60, false], ["url", "URL", 200, false]];
/** What a link for all authors asks for beside that. */
const OWNER = ["owner", t`Your name or that of your team`, 32, true];

applyTheme();
document.body.prepend(pageHeader());
const main = document.getElementById("main");
const message = el("p", { class: "error-line", role: "alert" });
// A link for all authors ends in "all": each says who it is. Any other is one author's.
const [contest, code, all] = location.hash.slice(1).split("/").map(decodeURIComponent);

/** What the link can do is asked before its form is shown: it may be used up, or old. */
async function begin() {
  const { works = true, bot = null, status = 200 } = await post("link", {}).catch(() => ({}));
  if (works && status !== 409) return showForm(bot);
  main.replaceChildren(el("h1", {}, t`Register a bot`), el("div", { class: "panel" }, ...(bot === null
    ? [el("p", {}, t`This link has been used already, has expired, or is not complete.`),
      el("p", { class: "sub" },
        t`Copy the whole of it, as the organiser has sent it, or ask the organiser for a new one.`)]
    : [el("p", {}, t`This link has been used: ${bot} is registered.`),
      el("p", { class: "sub" }, t`Its token was shown once. If it is lost, ask the organiser for a new one.`)])));
  return undefined;
}

/** The answer of the server: of a refusal, its reason is `error`. */
async function post(verb, given) {
  const response = await fetch(`api/v1/register${verb && "/"}${verb}`,
    { method: "POST", body: JSON.stringify({ ...given, contest, code }) });
  const answer = await response.json();
  return response.ok ? answer : { error: answer.error, status: response.status };
}

/** With `bot`, which has its token by this link and has not logged in: the answer with that may be lost. */
function showForm(bot) {
  const inputs =
    [...(all ? [OWNER] : []), ...FIELDS].map(([key, title, most, required]) => [key, title,
      el("input",
        { type: key === "url" ? "url" : "text", id: key, maxlength: most, required,
          pattern: required ? NAME_PATTERN : null, autocomplete: "off",
          value: key === "name" ? bot : null, readonly: key === "name" && bot !== null })]);
  main.replaceChildren(el("h1", {}, t`Register a bot`),
    el("p", { class: "sub" },
      all
        ? t`For the contest ${contest}. Both names have letters and digits of English, "_", "." and "-"; the rest may stay empty.`
        : t`For the contest ${contest}. This link is for one bot. The name has letters and digits of English, "_", "." and "-"; the rest may stay empty.`),
    ...(bot === null ? [] : [el("p", {},
      t`This link has registered ${bot}. Until the bot has logged in, it makes another token, and the one before is dead.`)]),
    el("form", { class: "panel author", onsubmit: (event) => {
      event.preventDefault();
      register(Object.fromEntries(inputs.map(([key, , input]) => [key, input.value.trim()])));
    } },
      ...inputs.map(([key, title, input]) => el("label", { for: key }, title, input)),
      el("div", { class: "tools" }, el("button", { type: "submit", class: "primary" }, t`Register`), message)));
  inputs[0][2].focus();
}

async function register(given) {
  message.textContent = "";
  try {
    const answer = await post("", given);
    if (answer.error) throw new Error(answer.status === 400
      ? t`The registration was refused: each field is one line of text, and the link has to be whole, as the organiser sent it.`
      : answer.error);
    if (!all) history.replaceState(null, "", location.pathname);
    const { name, token } = answer;
    const options = `--connect ${location.origin} --name ${name} --contest ${contest}`;
    const [use, line] = answer.submit
      ? [t`The command that sends a version:`, `ARENA_TOKEN=${token} arena submit ./${name} ${options}`]
      : [t`The first line that the bot sends, if no library does it:`,
        `HELLO 1 ${name} token=${token} contest=${contest}`];
    const copied = (text) => el("p", { class: "link-row" }, el("code", {}, text), copyButton(text));
    const title = answer.waiting ? t`${name} is waiting for approval` : t`${name} is registered`;
    main.replaceChildren(el("h1", {}, title), el("div", { class: "panel" },
      answer.waiting ? el("p", {}, t`It can log in once the organiser has approved it.`) : null,
      el("p", {}, t`Its token, which is shown only now:`), copied(token),
      el("p", { class: "sub" },
        answer.submit
          ? t`Keep it: you send versions of the bot with it, and the server has its digest alone. If it is lost, ask the organiser for a new one.`
          : t`Keep it: the bot logs in with it, and the server has its digest alone. If it is lost, ask the organiser for a new one.`),
      el("p", {}, use), copied(line)));
  } catch (error) {
    message.textContent = error.message === "Failed to fetch" ? t`The server does not answer.`
      : sentence(error.message, given.name);
  }
}

// A link that is pasted over the address of this page loads nothing by itself.
addEventListener("hashchange", () => location.reload());
if (contest && code) begin();
else main.replaceChildren(el("h1", {}, t`Register a bot`),
  el("p", { class: "empty" }, t`This page needs the link that the organiser has sent you.`));
