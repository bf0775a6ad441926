// Names of people, in any script, by the rule of `terms/people.py`.

const LONGEST = 32;
const MOST_MARKS = 4;
/** Scripts whose spelling needs joiners. */
const JOINING = /[\u0620-\u07ff\u0840-\u085f\u08a0-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17dd\u1820-\u18aa]/.source;
const JOINERS = new RegExp(`(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`, "gu");

/** The name as it is kept and shown; null for what is none. */
export function personName(text) {
  const name = text.split(/\p{Zs}+/u).filter(Boolean).join(" ").normalize("NFC");
  const plain = name.replace(JOINERS, "");
  const seen = [...plain.replace(/\p{M}/gu, "")].length;
  return seen <= LONGEST && /[\p{L}\p{N}]/u.test(plain) && !/[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]/u.test(plain)
    && !/^\p{M}/u.test(plain) && !new RegExp(`\\p{M}{${MOST_MARKS + 1}}`, "u").test(plain) ? name : null;
}

/** `names` of players, who may be called otherwise on the pages: {name in the protocol: name}. */
export const calledNames = (names, called = {}) => names.map((name) => called[name] ?? name);
