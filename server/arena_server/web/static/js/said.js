// What the server says, in the language of the page: a test reads its texts from its source, and finds one that is missing here.

import { language } from "./texts.js";

/** Texts of the server with {} for each value; a value that is such a text itself is translated too. */
const BULGARIAN = {
  // documents and streams
  "no contest {}": "няма състезание {}", "contest {} draws no rounds": "състезание {} няма кръгове", "contest {} has no games of chunk {}": "състезание {} няма част {} от партиите",
  "contest {} has no games of chunk {} in its schedule": "състезание {} няма част {} от програмата", "no chunk {}": "няма част {}",
  "the chain of contest {} is published when the contest is over": "веригата на състезание {} се публикува след края му", "no game {} with a result in contest {}": "няма завършила партия {} в състезание {}",
  "no game {} is running": "няма текуща партия {}", "this server shows no running games": "този сървър не показва текущи партии", "too many viewers; try later": "твърде много зрители; опитайте по-късно",
  "too many requests from this address": "твърде много заявки от този адрес", "this server is not {}; use its address, or name it in server.web_names": "този сървър не е {}; използвайте адреса му или го добавете в server.web_names",
  "a request may have {} bytes at most": "заявката може да има най-много {} байта", "this server has no numpy, which ratings need: it lacks the extra [ratings]": "на сървъра липсва numpy, нужна за рейтингите: допълнението [ratings]",
  "no answer from {} within {} s": "няма отговор от {} в срок от {} s", "no answer within {} s": "няма отговор в срок от {} s", "the server has ended": "сървърът е спрян", "the contest has not begun yet: the database is being opened": "състезанието още не е започнало: базата данни се отваря",
  "say which contest; there are: {}": "посочете състезание; има: {}", "no contest {} here; there are: {}": "тук няма състезание {}; има: {}", "the contest is over: {}": "състезанието свърши: {}",
  "contest {} has no bot {}": "състезание {} няма бот {}", "no bot {}": "няма бот {}", "no place {}": "няма място {}",
  // rounds of a format
  "final": "финал", "semi-finals": "полуфинали", "quarter-finals": "четвъртфинали", "last {}": "кръг на {}", "group {}": "група {}", "round {}": "кръг {}", "levels of the bracket passed": "изиграни нива на схемата",
  "points of the rounds: 1 for a pairing won or a bye, 1/2 for a tied one": "точки от кръговете: 1 за спечелена среща или почивка, 1/2 за равна",
  "1 for a place in the bracket and 1 for each of its levels passed; without one the share of the points of the group": "1 за място в схемата и 1 за всяко минато ниво; без място делът от точките на групата",
  // running games of another server
  "cannot be reached: {}": "не може да се достигне: {}", "the connection is lost: {}": "връзката прекъсна: {}", "the server closed the connection": "сървърът затвори връзката", "the contest is over there ({})": "състезанието там свърши ({})",
  "Connection refused": "връзката е отказана",
  // whom a contest waits for
  "never connected": "не се е свързвал", "no version yet": "още няма версия", "not connected since the server started": "не се е свързвал от старта на сървъра", "last seen {} UTC": "за последно в {} UTC",
  "kicked by the organiser, {}": "отстранен от организатора, {}", "on probation: paired no more after {}, {}": "с изпитателен срок: без партии след {}, {}", "until `arena admin lift {}`": "до `arena admin lift {}`",
  "{} faulty game": "{} партия с грешка", "{} faulty games": "{} партии с грешка", "not validated: its validation game had a fault; {}": "непроверен: пробната му партия имаше грешка; {}",
  "it plays another when it connects again, or by `arena admin validate {}`": "играе друга, като се свърже пак, или с `arena admin validate {}`",
  // faults
  "{} at ply {}; {}": "{} на ход {}; {}", "{} before the first ply; {}": "{} преди първия ход; {}", "the seat loses the game": "той губи партията", "the referee plays {} for it until the game ends": "съдията играе {} вместо него до края",
  "{} used up its clock": "{} изчерпа времето си", "{} sent an illegal move": "{} изпрати непозволен ход", "{} sent an illegal move {}": "{} изпрати непозволен ход {}", "{} sent a line that cannot be parsed": "{} изпрати неразбираем ред", "{} sent a line that cannot be parsed, {}": "{} изпрати неразбираем ред, {}",
  "{} sent too many unasked lines": "{} изпрати твърде много непоискани редове", "{} moved out of turn too often": "{} твърде често игра, без да е на ход", "{} was not connected and did not come back in time": "{} не беше свързан и не се върна навреме",
  "{} did not send READY in time": "{} не изпрати READY навреме", "{} sent QUIT": "{} изпрати QUIT", "{} was stopped by a limit of its container": "{} беше спрян от ограничение на контейнера си", "{} was stopped by a limit of its container, {}": "{} беше спрян от ограничение на контейнера си, {}",
  // orders and registrations
  "a wrong token, or none": "грешен ключ или никакъв", "too many wrong tokens from this address": "твърде много грешни ключове от този адрес", "expected {}, texts of one line": "очаква се {}, текстове от един ред", "expected {}": "очаква се {}",
  "no page to register on is served: see server.web": "няма страница за регистрация: вижте server.web", "extend: expected a number of games up to {}, got {}": "extend: очаква се брой партии до {}, получено {}", "invite needs a code": "invite иска код",
  "invite: expected the name of an author, got {}": "invite: очаква се име на автор, получено {}", "there are {} open invitations already": "вече има {} отворени покани", "no bot of this contest is called {}": "в състезанието няма бот {}",
  "no game {} is running or void; the result of any other stands": "партия {} нито тече, нито е анулирана; резултатите на другите остават", "the commands are {}, not {}": "командите са {}, а не {}", "{} needs the token of {}": "{} иска ключа на {}",
  "{} has left the contest; arena admin add {} brings it back": "{} напусна състезанието; arena admin add {} го връща", "{} is a bot of this contest already": "{} вече е бот в състезанието", "{}: the workers of this contest have no program of it": "{}: работниците на състезанието нямат негова програма",
  "this server keeps no logs of bots: see server.bot_logs": "сървърът не пази дневници на ботове: вижте server.bot_logs", "this link has been used already, has expired, or is not complete": "връзката вече е използвана, изтекла е или не е цяла", "a page of another server asked for this": "поиска го страница от друг сървър",
  "too many registrations from this address; try again in a minute": "твърде много регистрации от този адрес; опитайте след минута",
  'contest.format: "{}" takes no late entrants': 'contest.format: "{}" не приема закъснели', 'contest.format: "{}" takes no late entrants: who meets whom is fixed': 'contest.format: "{}" не приема закъснели: кой с кого играе е решено', 'contest.format: "{}" cannot be extended': 'contest.format: "{}" не може да се удължи',
  "expected {} games, got {}": "очакват се {} партии, получени {}", "a multiple of {}": "кратно на {}", "a number above 0": "повече от 0", "contest.format: the last round has been drawn": "contest.format: последният кръг е изтеглен",
  "expected 1 to {} rounds more, as no two bots meet twice, got {}": "очакват се от 1 до {} кръга още, защото никои два бота не се срещат пак, получени {}", "contest.games: this ladder is open, and has no number of games to extend": "contest.games: тази стълбица е без край и няма брой партии за удължаване",
  "the contest ends early: it is certain who is first (contest.stop)": "състезанието свършва предсрочно: сигурно е кой е пръв (contest.stop)",
  "no place for it: {} connections are {} slots of bots and {} for clients that log in or watch; raise server.max_connections": "няма място за него: {} връзки са {} места на ботове и {} за влизащи и зрители; увеличете server.max_connections",
  "no worker plays games of this contest: it has no --on": "никой работник не играе партии на това състезание: то няма --on",
  // games of visitors
  "a move is a word of ASCII characters": "ходът е дума от знаци ASCII", "a page of another server asked for this game": "партията е поискана от страница на друг сървър", "another player is called {}: choose another name": "друг играч се казва {}: изберете друго име",
  "expected a seat from 1 to {}, got {}": "очаква се място от 1 до {}, получено {}", "expected as your name {}, got {}": "за име се очаква {}, получено {}", "expected {} as a {}, got {}": "очаква се {} като {}, получено {}", "it is not your turn": "не сте на ход", "no engine {} for {}; there are: {}": "няма програма {} за {}; има: {}",
  "no game waits for you": "няма партия, която ви чака", "no game {}; there are: {}": "няма игра {}; има: {}", "no move can be taken back in this game": "в тази партия ход не се връща", "the engines cannot be listed: it takes too long": "програмите не могат да се изброят: отнема твърде дълго", "the engines cannot be listed: {}": "програмите не могат да се изброят: {}",
  "the referee cannot be reached: {}": "съдията не може да се достигне: {}", "the connection to the referee is lost: {}": "връзката със съдията прекъсна: {}",
  "the game cannot be played: {}": "партията не може да се изиграе: {}", "the pages were too slow for the games, and begin again": "страниците не смогнаха с партиите и започват отначало",
  "the referee cannot be reached now": "съдията не може да се достигне сега", "there is a rematch after a game that was started here": "реванш има след партия, започната тук", "this server starts no games": "този сървър не започва партии", "too many games from this address; try again in a minute": "твърде много партии от този адрес; опитайте след минута",
  "too many wrong links from this address": "твърде много грешни връзки от този адрес", "you have not moved yet": "още не сте играли", "{} games {}are being played here, as many as may be; try later": "тук се играят {} партии {}, повече не може; опитайте по-късно", "{} moves have been taken back, as many as may be": "върнати са {} хода, повече не може",
};

const escaped = (text) => text.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
/** What is quoted is not of the server, and not looked into. */
const VALUE = String.raw`((?:"(?:[^"\\]|\\.)*"|[^"])+?)`;
let patterns = null;

/** A text of the server in the language of the page; one that is not in the catalogue stays as it is. */
export function said(text) {
  return language === "bg" ? inBulgarian(text) : text;
}

export function inBulgarian(text) {
  // Of two that fit one without values, then the one with more of them, then with more words of its own.
  const weight = (key) => (key.includes("{}") ? 0 : 1e6) + 1000 * key.split("{}").length + key.replaceAll("{}", "").length;
  patterns ??= Object.entries(BULGARIAN).sort(([a], [b]) => weight(b) - weight(a))
    .map(([key, translation]) => [new RegExp(`^${escaped(key).replaceAll("{}", VALUE)}$`), translation]);
  for (const [pattern, translation] of patterns) {
    const found = pattern.exec(text);
    if (found === null) continue;
    let next = 1;
    return translation.replaceAll("{}", () => inBulgarian(found[next++]));
  }
  // Of a text about something, such as an address, the rest may be known.
  const [about, ...rest] = text.split(": ");
  return rest.length ? `${about}: ${inBulgarian(rest.join(": "))}` : text;
}

/** For tests. */
export const saidTexts = () => BULGARIAN;
