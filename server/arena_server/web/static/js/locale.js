// Numbers, dates, counts and lists as a language writes them.

import { language } from "./language.js";

/** Letters that are written from right to left, and what else sets that direction. */
const LEFTWARD = /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ud802\ud803\ud83a\ud83b\ufb1d-\ufdff\ufe70-\ufefe]/;

/** A foreign text as a part of another one: isolated, where it would move the digits and points beside it. */
export const apart = (text) => (LEFTWARD.test(text) ? `\u2068${text}\u2069` : text);

/** Foreign texts in a row: names with commas between them. */
export const inRow = (texts, between = ", ") => texts.map(apart).join(between);

export class Locale {
  /** `region` is the tag for dates, which may differ in one language. */
  constructor(code, region = code) {
    this.code = code;
    this.region = region;
    this.rules = new Intl.PluralRules(code);
    this.plain = new Intl.NumberFormat(code);
    this.formats = new Map();
  }

  /** A number; `options` are those of Intl.NumberFormat. */
  number(value, options = null) {
    return (options ? this.made(Intl.NumberFormat, this.code, options) : this.plain).format(value);
  }

  /** A Date; `options` are those of Intl.DateTimeFormat. */
  date(date, options) {
    return this.made(Intl.DateTimeFormat, this.region, options).format(date);
  }

  /** "ann, bob and cid". */
  list(names) {
    return this.made(Intl.ListFormat, this.code === "en" ? "en-GB" : this.code, {}).format(names.map(apart));
  }

  /** The category of a count: one, few, many or other. */
  plural(count) {
    return this.rules.select(count);
  }

  /** To make a formatter takes much longer than to use it. */
  made(Kind, tag, options) {
    const key = `${Kind.name} ${JSON.stringify(options)}`;
    if (!this.formats.has(key)) this.formats.set(key, new Kind(tag, options));
    return this.formats.get(key);
  }
}

/** That of the page. English dates are those of the browser's place. */
export const locale = new Locale(language, language === "en" ? [] : language);
