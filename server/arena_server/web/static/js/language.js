// The language of the page, and its catalogue: a file of `static/languages`, of which the page has the list.

import { unpacked } from "./unpacked.js";

/** {code: {name, file}}; a page that is one file holds the catalogues itself, and has no `file`. */
const CATALOGUES = JSON.parse(globalThis.document?.documentElement.dataset.languages ?? "{}");

/** Code and name of each language, the name in the language itself. */
export const languages = [["en", "English"], ...Object.entries(CATALOGUES).map(([code, { name }]) => [code, name])];

/** The chosen language, else the first one of the browser that there is; English where there is none. */
function ownLanguage() {
  let chosen = null;
  try { chosen = globalThis.localStorage?.getItem("language"); } catch { /* storage may be forbidden */ }
  const wanted = globalThis.document ? [chosen, ...navigator.languages.map((tag) => tag.split("-")[0])] : [];
  return wanted.find((each) => languages.some(([code]) => code === each)) ?? "en";
}

export const language = ownLanguage();

let found = {};

/** `all` are the translations: {texts, counted, words, sentences}. */
export function useCatalogue(all) {
  found = all;
}

export const catalogue = () => found;

/** Load the catalogue of the page's language, which is not English; the page is in English where that fails. */
export async function loadCatalogue() {
  const { file } = CATALOGUES[language];
  try {
    useCatalogue(file
      ? (await import(`./${file}`)).catalogue
      : await unpacked(document.querySelector(`script[data-language="${language}"]`)).json());
  } catch (error) {
    console.warn(`The texts in ${language} cannot be loaded: ${error.message}`);
  }
}

/** The language of this browser from the next page on. */
export function chooseLanguage(code) {
  try { localStorage.setItem("language", code); } catch { /* the choice lasts for no page */ }
}
