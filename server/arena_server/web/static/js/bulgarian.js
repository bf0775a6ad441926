// All texts in Bulgarian, in a file of its own: a page in English does not load it. A test finds a text that is missing
// here, and one that nothing uses.

/** Texts of the pages, by the English text with {} for each value. A translation may number the values, {1} {0}. */
export const TEXTS = {
  // times, counts, results
  "{} of {}": "{} от {}", "{} s": "{} s", ", about {} left": ", остават около {}", "; {} an hour{}": "; {} на час{}",
  " and {} more": " и още {}",
  "closed until {}": "затворено до {}",
  "Waiting for {}{}": "Чака се {}{}", "void, it does not count": "анулирана, не се брои", " by forfeit": " служебно",
  ", corrected by the jury": ", поправено от журито",
  "{} wins": "{} печели", "no winner": "няма победител",
  "a draw": "равенство", "a draw of {}": "равенство между {}", "wins": "печели", "zombie": "зомби", "to move": "на ход",
  "to move ": "на ход ", "ply {}": "ход {}", ". Over: {}": ". Край: {}",
  // menu
  "Contests": "Състезания", "Other contests: ": "Други състезания: ",
  "There is no contest {} here.": "Тук няма състезание {}.", "Replay a file": "Партия от файл", "TV": "ТВ",
  "Play": "Игра", "Organiser": "Организатор", "Skip to the content": "Към съдържанието", "Pages": "Страници",
  "Switch between light and dark": "Светла или тъмна страница", "Light or dark": "Светло или тъмно",
  "{}{}. This page asks again in {} s ...": "{}{}. Страницата ще опита пак след {} s ...",
  "the server does not answer": "сървърът не отговаря",
  // boards
  "circle": "кръг", "square": "квадрат", "triangle": "триъгълник", "diamond": "ромб", "star": "звезда",
  "hexagon": "шестоъгълник", "cross": "кръст", "empty": "празно",
  "Board, rows from the top: {}": "Дъска, редове отгоре: {}", "Next pictures: {}": "Следващи картинки: {}",
  "No pictures left": "Няма повече картинки", "column {} row ": "колона {} ред ",
  "Board of {} by {}. {}": "Дъска {} на {}. {}", "It is empty.": "Празна е.", "Next: {}": "Следва: {}",
  // a contest
  "Contest": "Състезание", "Game": "Партия", "Kind of game": "Игра", "Games": "Партии", "Started": "Начало",
  "Status": "Състояние", "Now playing: ": "Сега се играе: ",
  "No contest has begun yet. An organiser begins one with arena serve.":
    "Още няма започнало състезание. Организатор започва едно с arena serve.",
  "Find bots on the wall": "Търсене на ботове", "Games of bots with a star": "Партии на ботове със звезда",
  "No game shown here is of such a bot.": "Никоя от показаните партии не е на такъв бот.",
  "Mark the games of this bot on the wall": "Отбелязване на партиите на този бот",
  "{} are watching": "Гледат {}",
  "Season {}": "Сезон {}", "Stage": "Етап", "Entrants": "Участници", "not begun": "не е започнал",
  "; practice, not rated": "; тренировка, без рейтинг",
  "; anonymous: names and results are shown when it is over":
    "; анонимно: имена и резултати се показват след края",
  "Entrants: {}": "Участници: {}", "each of {}": "всеки от {}", " by ratings": " по рейтинг",
  "all of {}": "всички от {}", "all of {} behind the first {}": "всички от {} след първите {}",
  "the first {} of {}": "първите {} от {}", "{} of {} behind the first {}": "{} от {} след първите {}",
  "The contests cannot be shown": "Състезанията не могат да се покажат",
  "This contest cannot be shown": "Състезанието не може да се покаже", "All contests": "Всички състезания",
  "the address names no contest": "адресът не посочва състезание", "Rank": "Място", "Bot": "Бот", "Bots": "Ботове",
  "Score": "Резултат", "Points": "Точки", "Mean": "Средно", "Wins": "Победи", "Faults": "Грешки",
  "ranked by score: {}": "подредени по резултат: {}", "scored by wins": "по победи", "scored by points": "по точки",
  "scored by {} for a win, a draw and a loss": "по {} за победа, реми и загуба",
  "What the bot in the row has scored against the bot in the column, by their ranks: {}.":
    "Какво е спечелил ботът в реда срещу бота в колоната, по местата им: {}.",
  " a game, because the numbers of games differ": " на партия, защото броят на партиите е различен",
  "a score of {}": "резултат {}", "{} wins a game": "{} победи на партия", "{} points a game": "{} точки на партия",
  "{} lead with {} in {}": "{} водят с {} в {}", "{} leads with {} in {}": "{} води с {} в {}",
  "{} are first with {} in {}": "{} са първи с {} в {}", "{} is first with {} in {}": "{} е първи с {} в {}",
  ", {} void": ", {} анулирани", "Games played": "Изиграни партии", "{} per seat{}": "{} на играч{}",
  " + {} s per move": " + {} s на ход",
  "; the table stands still since {}, until the contest is over":
    "; таблицата е замразена от {} до края на състезанието",
  "Ended early: {}.": "Предсрочен край: {}.",
  "Ended early: after {} games {} is separated from all others at 95 %.":
    "Предсрочен край: след {} партии {} се отделя от останалите с 95 %.",
  "Ended early: after {} games {} are separated from all others at 95 %.":
    "Предсрочен край: след {} партии {} се отделят от останалите с 95 %.",
  "No bot has entered. One enters by the table [[bot]] of the contest's file, or by an invitation.":
    "Още няма ботове. Бот се включва чрез таблица [[bot]] във файла на състезанието или с покана.",
  "Latest:": "Последни:", "Running games": "Текущи партии",
  "No game is running.": "Сега няма партия.", "last seen {}": "за последно {}",
  "An empty cell stands for games that are planned.": "Празна клетка са планирани партии.",
  "The registration was refused: each field is one line of text, and the link has to be whole, as the organiser sent it.":
    "Регистрацията е отказана: всяко поле е един ред текст, а връзката трябва да е цяла, както я е изпратил организаторът.",
  "above the others": "над останалите", "no rating": "без рейтинг",
  "As of {}": "Към {}",
  "Results as a feed (Atom)": "Резултатите като емисия (Atom)", "In a calendar (ICS)": "В календар (ICS)",
  "Head of the record chain: ": "Глава на веригата от записи: ",
  "Standings": "Класиране", "Whole page": "Цялата страница", "Statistics": "Статистика",
  "What are a ply, a void game and a zombie?": "Какво са ход, анулирана партия и зомби?",
  "one move of one seat": "един ход на едно място",
  "a game that does not count; it is played again, unless the contest ends before":
    "партия, която не се брои; играе се отново, освен ако състезанието свърши преди това",
  "Zombie": "Зомби", "a seat at fault: the server plays for it to the end of the game":
    "място с нарушение: сървърът играе вместо него до края на партията",
  "What is the chain?": "Какво е веригата?", "Chain": "Верига",
  "a number made of all records in their order: who has kept it can prove that no result has changed since":
    "число от всички записи по реда им: който го е запазил, може да докаже, че оттогава никой резултат не е променен",
  "Notify me": "Известявай ме", "{} is over": "{} завърши", "The contest is {}": "Състезанието е: {}",
  "This browser allows no notices of this site": "Този браузър не разрешава известия от този сайт",
  "While this page is open in another tab: results of bots with a star, rounds, the end":
    "Докато страницата е отворена в друг раздел: резултати на ботове със звезда, кръгове, краят",
  "Parts of this page": "Части на страницата",
  "The connection is lost; the standings may be older. Connecting again ...":
    "Връзката прекъсна; класирането може да е остаряло. Свързване отново ...",
  "Running games cannot be shown now: {}. Trying again ...":
    "Текущите партии не могат да се покажат сега: {}. Нов опит ...",
  // the list of games
  "Won": "Спечелени", "Drawn": "Равни", "Lost": "Загубени", "Void": "Анулирани", "Any": "Всички", "All": "Всички",
  "End": "Край", "Plies": "Ходове", "Time": "Време", "Ended": "Завършила", "State": "Състояние",
  "Over": "Завършили", "Running": "Текущи", "Planned": "Предстоящи", "Against": "Срещу", "Result": "Резултат",
  "Fault": "Грешка", "With or without": "Със или без", "Any fault": "С грешка", "Next": "Напред", "Previous": "Назад",
  "Show {} planned": "Покажи {} предстоящи", "Hide {} planned": "Скрий {} предстоящи",
  "No game matches.": "Няма такава партия.", "No game has ended yet.": "Още няма завършила партия.",
  "No game has ended yet. Running games are on the page of the contest.":
    "Още няма завършила партия. Текущите партии са на страницата на състезанието.",
  "planned later and not listed": "по-късно, не са изброени",
  ", page {} of {}": ", страница {} от {}", "planned": "предстои", "{} planned": "{} предстоящи",
  // cross-table, ranges, faults, rounds, ratings
  "Cross-table": "Таблица всеки срещу всеки",
  "Points of the bot in the row against the bot in the column, by their ranks.":
    "Точки на бота от реда срещу бота от колоната, по местата им.",
  "A dot is a game won, drawn or lost. A sum opens to its games.":
    "Точка е спечелена, равна или загубена партия. Сборът се отваря до партиите си.",
  "Games that the bot in the row has won against the bot in the column, by their ranks; a draw is a half.":
    "Партии, които ботът от реда е спечелил срещу бота от колоната, по местата им; равенството е половинка.",
  "{} against {}: {}": "{} срещу {}: {}", "running, {}": "тече, {}", "{}, game {}, {}": "{}, партия {}, {}",
  "Least": "Най-малко", "Median": "Медиана", "Most": "Най-много", "Per game": "На партия",
  "Over all games of a bot with a result: the line is from the least to the most, the box has the middle half, the dot is the median.":
    "По всички завършили партии на бота: линията е от най-малкото до най-голямото, правоъгълникът е средната половина, точката е медианата.",
  "Time that its clock charged": "Време по часовника му", "The newest {} of {}.": "Най-новите {} от {}.",
  "What happened": "Какво се случи",
  "{} by seed": "{} по поставяне", "{} in extra games": "{} в допълнителни партии",
  "{} in sudden death": "{} до първа победа",
  "Paired by hand: {}": "Съставен на ръка: {}",
  "Player cards": "Карти на играчите", "{} bots": "{} бота",
  "12w1 is a win with the first seat (b: the second) against number 12 of the table.":
    "12w1 е победа като първи играч (b: като втори) срещу номер 12 от класирането.",
  "0: lost, 1/2: tied, + and -: by walkover, *: not over.":
    "0: загуба, 1/2: равенство, + и -: без игра, *: не е завършила.",
  "Bracket": "Схема", "Rounds": "Кръгове", "Order: {}": "Ред: {}", "Match": "Среща", "First seat": "Първи играч",
  "Second seat": "Втори играч", "Version": "Версия", "Rating": "Рейтинг", "Ranks": "Места", "Ratings": "Рейтинги",
  "Ratings of versions": "Рейтинги на версиите", "Versions": "Версии",
  "no game was won or drawn against it by a rated player or one below":
    "никой с рейтинг или под него не го е победил и не е направил равенство с него",
  "it has won or drawn no game against a rated player or one above":
    "не е победил и не е направил равенство с никой с рейтинг или над него",
  "no results in both directions connect it with other players": "няма резултати и в двете посоки с други играчи",
  "Not rated: {} ({}).": "Без рейтинг: {} ({}).",
  "Seat {} is worth {}{} against seat 1.": "Място {} струва {}{} спрямо място 1.",
  "Fitted to {}; a difference of 100 is a score of 64 %. {} {}": "По {}; разлика от 100 е резултат 64 %. {} {}",
  " (95 %: {} to {}), rank {} of {}": " (95 %: от {} до {}), място {} от {}",
  // a bot
  "the address names no bot": "адресът не посочва бот", "no bot of this name in {}": "няма такъв бот в {}",
  "No rank before the first result": "Без място преди първия резултат",
  "Rank {} of {}: {} points in {}, {} won": "Място {} от {}: {} точки в {}, {} спечелени",
  "Rank {} of {}: {} won of {}": "Място {} от {}: {} спечелени от {}",
  "; faults: ": "; грешки: ", "Opponents": "Противници", "All contests of this bot": "Всички състезания на този бот",
  "by {}": "от {}", "program {}": "програма {}",
  "Time and first moves": "Време и първи ходове",
  "In the newest {} whose records may be shown.": "В най-новите {}, чиито записи могат да се покажат.",
  "Mean time a move": "Средно време за ход", "Longest move": "Най-дълъг ход", "Share of its clock": "Дял от часовника",
  "First move": "Първи ход",
  "Rating as results landed": "Рейтингът с идването на резултатите", "Its newest versions": "Най-новите му версии",
  "after {} games of the contest": "след {} партии от състезанието", "{} games, {}: {} ±{}": "{} партии, {}: {} ±{}",
  "Theirs": "Техни", "Best game": "Най-добра партия", "This bot cannot be shown": "Ботът не може да се покаже",
  // a game
  "{}: {} at ply {}": "{}: {} на ход {}", "cascade of {} waves at ply {}": "верига от {} вълни на ход {}",
  " for {}": " за {}", "ply {}: {} plays {}": "ход {}: {} играе {}",
  "; from here {} leads to the end": "; оттук {} води до края",
  "Decisive plies": "Решаващи ходове", "More was there": "Имаше повече",
  "ply {}: {} plays {} for {}; {} was there for {}": "ход {}: {} играе {} за {}; имаше {} за {}",
  "ply {}: {} plays {}, and {} wins": "ход {}: {} играе {} и {} печели",
  "ply {}: {} plays {}; from here the bots see {} ahead": "ход {}: {} играе {}; оттук ботовете виждат {} напред",
  "the server": "сървърът", "ply {} of {}": "ход {} от {}",
  "The bots have noted no evaluation yet": "Ботовете още не са дали оценка",
  "The bots see {} ahead by {} of 100, each by its own evaluations":
    "Според ботовете {} води с {} от 100, всеки по своите оценки",
  "The start.": "Начало.", " (played by the server)": " (играно от сървъра)",
  "Ply {}: {}.": "Ход {}: {}.", "{} plays {}": "{} играе {}", "Game {} of {}": "Партия {} от {}",
  " in {} waves": " в {} вълни",
  "Moves": "Ходове", "Time left": "Оставащо време", "Evaluation, each bot for itself": "Оценка на всеки бот",
  "Graphs": "Графики", "Evaluation": "Оценка", "Evaluation: up is better for {}": "Оценка: нагоре е по-добре за {}",
  "ply {}: the bots disagree for the first time: {} sees itself at {}, {} at {}":
    "ход {}: ботовете за пръв път не са съгласни: {} се вижда на {}, {} на {}",
  "Line": "Вариант", "Draw the best line of the bot on the board": "Показване на най-добрия вариант на бота на дъската",
 
  "ply 0": "ход 0", "Ply": "Ход", "Play (space)": "Пусни (интервал)", "Pause (space)": "Пауза (интервал)",
  "Speed": "Скорост", "Live": "На живо",
  "Previous fault": "Предишна грешка", "Next fault": "Следваща грешка", "Previous cascade": "Предишна верига",
  "Next cascade": "Следваща верига", "Replay": "Преглед", "Start (Home)": "Начало (Home)",
  "Back (left arrow)": "Назад (стрелка)", "Forward (right arrow)": "Напред (стрелка)", "End (End)": "Край (End)",
  "Checking the record ...": "Проверка на записа ...", "✓ Verified here: {}": "✓ Проверено тук: {}",
  "✗ This record does not verify. {}": "✗ Записът не издържа проверката. {}",
  "Check it against the head": "Провери спрямо главата",
  "Seat {}: {}": "Място {}: {}", " points ": " точки ", "zombie since ply {}: {}{}": "зомби от ход {}: {}{}",
  " (it sent “{}”)": " (изпрати „{}“)", "no clock": "без часовник", "Note about ply {}": "Бележка за ход {}",
  "score": "оценка", "depth": "дълбочина", "nodes": "възли", "nodes/s": "възли/s",
  "best line ": "най-добро продължение ",
  "This game cannot be shown": "Партията не може да се покаже", "Back to the contest": "Към състезанието",
  // two games of one deal
  "Same deal": "Същото раздаване", "{} and {}: the same deal": "{} и {}: същото раздаване",
  "the same deal twice: {} and {}": "едно раздаване два пъти: {} и {}", "Game {}": "Партия {}",
  "Beside {}: ": "До {}: ", "Together": "Общо", " seat {}": " място {}", "Go there (n)": "Към хода (n)",
  "The result of both games": "Резултатът от двете партии",
  "The games have the same moves from the first ply to the last.":
    "Партиите имат едни и същи ходове от първия до последния.",
  "The games part at ply {}: {}, {}.": "Партиите се разделят на ход {}: {}, {}.",
  "{} plays {} in {}": "{} играе {} в {}",
  "With the same luck {} did better by {}.": "При същия късмет {} е по-добре с {}.",
  "With the same luck {} and {} did equally well: {} each.": "При същия късмет {} и {} са наравно: по {}.",
  "Not every seat of this deal was played by every bot: the luck of the seats is not the same.":
    "Не всеки бот е играл от всяко място на раздаването: късметът не е един и същ.",
  "Each game of this contest has a deal of its own.": "Всяка партия на състезанието има свое раздаване.",
  "Game {} was not played on the deal of {}.": "Партия {} не е играна с раздаването на {}.",
  "No two games on the same deal can be shown": "Няма две партии с едно раздаване за показване",
  "Not all games on the deal of {} are over: they are shown when each has a result.":
    "Не всички партии с раздаването на {} са завършили: показват се, когато всяка има резултат.",
  "No other game on the deal of {} has a result: none was played, or it was void.":
    "Друга партия с раздаването на {} няма резултат: не е играна или е анулирана.",
  "The contest": "Състезанието", "Same bots": "Същите ботове", "Previous game": "Предишна партия",
  "Next game": "Следваща партия", "Open the page": "Отвори страницата", "Next running game": "Следваща текуща партия",
  "No other game is running": "Няма друга текуща партия",
  "Its record is shown when all games on the same deal have a result.":
    "Записът ѝ се показва, когато всички партии със същото раздаване завършат.",
  "● live": "● на живо", "○ not live": "○ не е на живо", " game {} of {}": " партия {} на {}",
  "{}, game {} of {}, {}": "{}, партия {} на {}, {}",
  "The connection is lost; the game may be further on. Connecting again ...":
    "Връзката прекъсна; партията може да е напреднала. Свързване отново ...",
  "The game is over. {}": "Играта свърши. {}", "The address names no game.": "Адресът не посочва партия.",
  "Game {} is over. {}": "Партия {} свърши. {}",
  "Contest {} has no game {} that can be shown; it may not have begun yet.":
    "В състезание {} няма партия {}, която може да се покаже; може още да не е започнала.",
  "Game {} was left out of this file for its size: “arena replay {}” shows it.":
    "Партия {} не е в този файл заради размера му: „arena replay {}“ я показва.",
  "There is no record of game {} here. {}": "Тук няма запис на партия {}. {}",
  "This record cannot be played": "Записът не може да се изиграе",
  "The chain of the contest cannot be read: {}.": "Веригата на състезанието не може да се прочете: {}.",
  "The check could not be started.": "Проверката не можа да започне.",
  "deal, moves, points and clocks are as recorded": "раздаване, ходове, точки и часовници са като в записа",
  "clocks and faults are as recorded": "часовници и грешки са като в записа",
  " Moves and points are not checked here: arena verify does that.":
    " Ходове и точки не се проверяват тук: това прави arena verify.",
  "Played by worker {} on {}": "Играна от работник {} на {}",
  "{}: image {}": "{}: образ {}", "bound to cores {}": "само на ядра {}",
  "{} plies/s before its first game": "{} хода/s преди първата му партия",
  "{}: {} of processor time, {} held back by its own limit, {} kept waiting by a busy machine":
    "{}: {} процесорно време, {} спиран от собствения си лимит, {} чакал заета машина",
  "{} ms": "{} ms",
  "{}.{} A file alone does not prove its names.": "{}.{} Само файлът не доказва имената.",
  "names and result are as the contest lists them; {}": "имената и резултатът са като в състезанието; {}",
  "; record {} of the {} under the head {}…{}": "; запис {} от {} под главата {}…{}",
  // sharing
  "Share": "Сподели", "Copied": "Копирано", "Copy": "Копирай", "Save": "Запази",
  "Link to this ply": "Връзка към този ход", "Moves as text": "Ходовете като текст", "Board as SVG": "Дъската като SVG",
  "Seats and board as PNG": "Играчи и дъска като PNG",
  "Game as GIF": "Партията като GIF",
  "Record": "Записът", "Code to embed the game": "Код за вграждане", "{}: copied": "{}: копирано",
  "{}: saved": "{}: запазено", "{}: {} %": "{}: {} %",
  "This browser does not let the page copy": "Браузърът не позволява на страницата да копира",
  // TV
  "Open the game": "Отвори партията", "Stay with this game until it is over": "Остани при тази партия до края ѝ",
  "Pin": "Задръж", "Waiting for the next game ...": "Чака се следващата партия ...", "Next: {} ({})": "Следва: {} ({})",
  "Game {}, ply {}": "Партия {}, ход {}", ", first: {}": ", първи: {}",
  "{} is {}, {} games were played{}.": "{}: {}, изиграни партии: {}{}.", "Full screen": "Цял екран",
  "Sound at the end of a game": "Звук в края на партия", "Running game": "Текуща партия",
  "This server shows no running games.": "Този сървър не показва текущи партии.",
  // playing
  "Opponent": "Противник", "Engine, from weak to strong": "Програма, от слаба към силна", "Easy": "Лесен",
  "Medium": "Среден", "Strong": "Силен", "Another engine": "Друга програма", "Other people": "Други хора",
  "A second person": "Втори човек", "by a link": "с връзка",
  "Your name (in the record)": "Вашето име (в записа)",
  "Letters and digits of English, and . _ -": "Латински букви и цифри, и . _ -",
  "Moves may be taken back": "Ходовете могат да се връщат",
  "With hints, and moves may be taken back": "С подсказки и връщане на ходове",
  "moves taken back: {}": "върнати ходове: {}",
  "Take back": "Върни хода",
  "The game is played again on the same deal, up to your last move":
    "Партията се играе отново със същото раздаване, до последния ви ход",
  "Rematch": "Реванш", "Rematch: the others wait": "Реванш: другите чакат", "you win": "печелите",
  "Your seat": "Вашето място",
  "With the contest's clock ({} per seat{})": "С часовника на състезанието ({} на играч{})",
  "With hints": "С подсказки", "1, moves first": "1, играе пръв",
  "Start the game": "Започни партията", "Start a game": "Нова партия",
  "A regular game of this server, recorded and outside the standings. Without the clock a move may take 30 minutes.":
    "Редовна партия на сървъра, записана и извън класирането. Без часовник един ход може да трае 30 минути.",
  "Link of {}": "Връзка на {}",
  "The game waits for its players": "Партията чака играчите си",
  "Send each of these links to one other person; a link works once.":
    "Изпратете всяка от тези връзки на по един човек; връзката важи веднъж.",
  "Send this link to the other person; it works once.": "Изпратете тази връзка на другия; тя важи веднъж.",
  "Take your seat as {}": "Заемете мястото на {}",
  "not played": "не е играна", "The latest games played here": "Последните партии тук", "Players": "Играчи",
  "The server does not answer.": "Сървърът не отговаря.",
  "this server has no seats for a browser": "този сървър няма места за браузър",
  "Loading the engines ...": "Зареждане на програмите ...",
  "No game can be started here: {}.": "Тук не може да се започне партия: {}.",
  "This server starts no games ([server] play is 0). A seat in the browser comes with a link that works once; on your own machine this command prints one:":
    "Този сървър не започва партии ([server] play е 0). Място в браузъра се получава с връзка, която важи веднъж; на вашата машина тази команда дава такава:",
  "With --against person it prints two links, one for each of two people. In a contest, a [[bot]] table with person = true gives a link for that seat.":
    "С --against person тя дава две връзки, по една на човек. В състезание таблица [[bot]] с person = true дава връзка за това място.",
  "This link is a seat in a game. It works once: from then on this browser has the seat.":
    "Тази връзка е място в партия. Важи веднъж: след това мястото е на този браузър.",
  "Take the seat": "Заемете мястото", "Connecting to the referee ...": "Свързване със съдията ...",
  "Waiting for a game: the other players are not there yet.": "Чака се партия: другите играчи още ги няма.",
  "A game waits for you. The clock starts when all are ready.":
    "Чака ви партия. Часовникът тръгва, когато всички са готови.",
  "Waiting for the other players to be ready ...": "Чака се другите да са готови ...",
  "The game is over. If the contest has another one for you, it will appear here.":
    "Играта свърши. Ако състезанието има друга за вас, тя ще се появи тук.",
  "The contest is over.": "Състезанието свърши.", "Starting the game ...": "Партията започва ...",
  "Waiting for the other players.": "Чакат се другите играчи.", "The game is over.": "Играта свърши.",
  "Ready": "Готов", "Hint": "Подсказка",
  "Give up? The server plays your moves to the end.": "Предавате ли се? Сървърът ще играе вместо вас до края.",
  "Give up? You leave this contest for good.": "Предавате ли се? Напускате състезанието завинаги.",
  "Give up": "Предавам се", "Your move": "Вашият ход", "Another game": "Друга партия",
  "You play as {}": "Играете като {}",
  "The connection is lost. Connecting again ...": "Връзката прекъсна. Свързване отново ...",
  "This seat is lost: the server has started again. Ask for a new link.":
    "Мястото е изгубено: сървърът е започнал отначало. Поискайте нова връзка.",
  "The game is over, and another one waits for you.": "Играта свърши, чака ви друга.",
  "It is your turn.": "Вие сте на ход.", "The others move.": "Другите са на ход.",
  "The game is over": "Играта свърши", "The game is over{}": "Играта свърши{}", "Move {}": "Ход {}",
  "{} is not a legal move here.": "{} не е позволен ход тук.",
  "Type a move, or choose one on the board.": "Напишете ход или изберете на дъската.",
  "The record of game {}": "Записът на партия {}",
  // the organiser
  "Begin the contest now? It waits for no bot, and for no moment.":
    "Да започне ли състезанието сега? То не чака нито бот, нито час.",
  "Archive the contest for good? It is shown, and served no more.":
    "Да се архивира ли състезанието завинаги? То се показва, но не се обслужва повече.",
  "Stop the contest once no game runs?": "Да спре ли състезанието, щом не тече партия?",
  "End the contest for good, now? Running games become void, and the table stays as it is.":
    "Край на състезанието още сега? Текущите партии се анулират, а класирането остава каквото е.",
  "Extend the contest by {}?": "Да се удължи ли състезанието с {}?",
  "Pair a round as {}? It replaces one of which no game has begun.":
    "Да се състави ли кръг {}? Той заменя кръг, от който не е започнала партия.",
  "Shorten the contest by {}?": "Да се съкрати ли състезанието с {}?",
  "Length: {} {}; {} to {} are possible, in steps of {}": "Дължина: {} {}; възможни са от {} до {}, на стъпки по {}",
  "Kick {}? Its game becomes void.": "Да се отстрани ли {}? Партията му се анулира.",
  "Forfeit {}? The bot has lost this game then.": "{}? Тогава ботът е загубил партията.",
  "Disqualify {}? The bot is withdrawn.": "Да се дисквалифицира ли {}? Ботът се оттегля.",
  "Penalty points for {}?": "Наказателни точки за {}?", "Undo the last order?": "Да се върне ли последната команда?",
  "Undo the last one": "Върни последната", "Disqualify": "Дисквалифицирай", "Penalty": "Наказание",
  "A bot, and leave or lost: its games do not count, or it has lost them":
    "Бот, и leave или lost: партиите му не се броят, или ги е загубил",
  "A bot and points that are taken from its score": "Бот и точки, които се вадят от резултата му",
  "Correct {}?": "Да се поправи ли {}?", "Forfeit": "Служебна загуба", "Correct": "Поправи", "Jury": "Жури",
  "A game and the bot that loses it": "Партия и ботът, който я губи",
  "A game and its points, seat by seat": "Партия и точките ѝ по места",
  "Each decision needs a reason, which is public.": "Всяко решение иска причина, която се вижда от всички.",
  "names are as the contest lists them, its result is not that of the record; {}":
    "имената са като в списъка на състезанието, резултатът не е този от записа; {}",
  "Decisions of the jury": "Решения на журито", "By the jury: ": "Решение на журито: ",
  "Break off {} for good?": "Да се прекъсне ли {} завинаги?", "Play {} again?": "Да се играе ли {} отново?",
  "Withdraw {}? Its running games become void, and no other is played.":
    "Да се оттегли ли {}? Текущите му партии се анулират и други не се играят.",
  "Make a new token for {}? The old one and its connections are dead at once.":
    "Нов ключ за {}? Старият и връзките му спират веднага.",
  "Name": "Име", "Owner": "Собственик",
  "orders are taken on the admin port (--admin-port)": "наредби се приемат на порта на организатора (--admin-port)",
  "A token has no blanks and ASCII characters only.": "Ключът няма интервали и има само знаци ASCII.",
  "The organiser's token": "Ключ на организатора", "Log in": "Вход", "Log out": "Изход",
  "It is in the file next to the database that ends in .admin, or in ARENA_ADMIN_TOKEN.":
    "Той е във файла до базата данни, който завършва на .admin, или в ARENA_ADMIN_TOKEN.",
  "This token is wrong.": "Ключът е грешен.",
  "The link for {}, good once until {}: ": "Връзка за {}, важи веднъж до {}: ",
  "The link for {}, good until {}: ": "Връзка за {}, важи до {}: ",
  "Of this author alone (else the link is for all)": "Само за този автор (иначе връзката е за всички)",
  "The token of {}, shown only now: ": "Ключът на {}, показва се само сега: ", "Done: {} {}": "Готово: {} {}",
  "Orders": "Наредби", "Order": "Наредба",
  "Play again": "Играй пак", "Play a void game again": "Анулирана партия отново", "Extend": "Удължи",
  "More games a pair, or rounds": "Още партии на двойка или кръгове", "Shorten": "Съкрати",
  "Pair": "Състави", "A round by hand, as ann:bob,cid:dan,eve": "Кръг на ръка, например ann:bob,cid:dan,eve",
  "Forbid": "Забрани", "Two that do not meet, as ann:bob": "Двама, които не се срещат, например ann:bob",
  "Allow": "Разреши", "Two that may meet, as ann:bob": "Двама, които може да се срещат, например ann:bob",
  "Fewer games a pair, or rounds": "По-малко партии на двойка или кръгове", "Your name": "Вашето име",
  "Reason of the next order": "Причина за следващата наредба",
  "{}{}; {}, {} running, {} void; {}; {}": "{}{}; {}, текущи {}, анулирани {}; {}; {}", "Resume": "Продължи",
  "Begin now": "Започни сега", "Archive": "Архивирай", "Add a contest": "Добавяне на състезание", "Add it": "Добави го",
  "The server plays it beside the others, also after a restart.":
    "Сървърът го провежда редом с другите, и след ново пускане.", "Its file": "Файлът му",
  "Pause": "Пауза", "Drain": "Спри плавно", "Abort": "Прекрати", "Break off": "Прекъсни", "Mean move": "Среден ход",
  "Faulty games": "Партии с грешка",
  "Log of {}": "Дневник на {}", "Log": "Дневник", " until {}": " до {}", "Add": "Добави", "Kick": "Отстрани",
  "Lift": "Прости", "Validate": "Провери", "Withdraw": "Оттегли", "Token": "Ключ", "for {}": "за {}",
  "Workers": "Работници", "Worker": "Работник", "Plies/s before its first game": "Хода/s преди първата партия",
  "Stands out": "Откроява се", "Play its games again": "Повтори партиите му",
  "Play all games of the worker {} again, without it?":
    "Да се играят ли всички партии на работника {} отново, без него?",
  "it is slow: the others make {}": "бавен е: другите правят {}",
  "{} (of equal workers a chance of at most {} in {})": "{} (при еднакви работници с вероятност най-много {} за {})",
  "At": "Кога", "Who": "Кой", "What": "Какво", "Why": "Защо", "No order was given.": "Няма дадени наредби.",
  "Add a bot": "Нов бот",
  "It plays from now on. The server makes its token, shows it once, and keeps its digest.":
    "Играе отсега нататък. Сървърът прави ключа му, показва го веднъж и пази отпечатъка му.",
  "Links for a whole class, on cards to print with QR codes: ":
    "Връзки за цял клас, на карти за печат с кодове за телефон: ",
  "Invite": "Покани", "Or a link for an author to register a bot": "Или връзка, с която автор регистрира бот",
  // registering
  "Name of the bot": "Име на бота", "Author": "Автор", "Language": "Език", "Register a bot": "Регистрация на бот",
  "For the contest {}. This link is for one bot. The name has letters and digits of English, \"_\", \".\" and \"-\"; the rest may stay empty.":
    "За състезанието {}. Връзката е за един бот. Името има латински букви, цифри, \"_\", \".\" и \"-\"; останалото може да е празно.",
  "Team": "Отбор", "Teams": "Отбори", "Counted": "Броят се",
  "The best {} bots of each team count.": "Броят се най-добрите {} бота на всеки отбор.",
  "The best bot of each team counts.": "Брои се най-добрият бот на всеки отбор.",
  "Waiting for approval": "Чакат одобрение", "Invitations": "Покани", "Approve": "Одобри", "Reject": "Отхвърли",
  "Reject {}? It has to register again.": "Да се отхвърли ли {}? Ще трябва да се регистрира отново.",
  "The link for all authors, good until {}: ": "Връзката за всички автори, валидна до {}: ",
  "Registration is closed.": "Регистрацията е затворена.",
  "Registration is open until {}, up to {} for each author.": "Регистрацията е отворена до {}, по {} на автор.",
  "Registration of {} is open until {}, up to {}.": "Регистрацията на {} е отворена до {}, най-много {}.",
  "You approve each.": "Вие одобрявате всеки.",
  "Or one link for all: bots of each author, 0 closes it":
    "Или една връзка за всички: брой ботове на автор, 0 затваря",
  "Each waits for approval": "Всеки чака одобрение", "Set": "Задай", "Valid until": "Важи до",
  "not registered yet": "още не е регистриран", "expired": "изтекла",
  "Your name or that of your team": "Вашето име или името на отбора",
  "For the contest {}. Both names have letters and digits of English, \"_\", \".\" and \"-\"; the rest may stay empty.":
    "За състезанието {}. Двете имена са от английски букви, цифри, \"_\", \".\" и \"-\"; останалото може да е празно.",
  "{} is waiting for approval": "{} чака одобрение",
  "It can log in once the organiser has approved it.": "Ще може да влезе, щом организаторът го одобри.",
  "Register": "Регистрирай", "{} is registered": "{} е регистриран",
  "Its token, which is shown only now:": "Ключът му, който се показва само сега:",
  "The command that sends a version:": "Командата, която изпраща версия:",
  "The first line that the bot sends, if no library does it:":
    "Първият ред, който ботът изпраща, ако не го прави библиотека:",
  "Keep it: the bot logs in with it, and the server has its digest alone. If it is lost, ask the organiser for a new one.":
    "Пазете го: ботът влиза с него, а сървърът има само отпечатъка му. Ако се изгуби, поискайте нов от организатора.",
  "Keep it: you send versions of the bot with it, and the server has its digest alone. If it is lost, ask the organiser for a new one.":
    "Пазете го: с него изпращате версии на бота, а сървърът има само отпечатъка му. Ако се изгуби, поискайте нов от организатора.",
  "This page needs the link that the organiser has sent you.":
    "За тази страница трябва връзката, която организаторът ви е изпратил.",
  // a file
  "Choose a file": "Изберете файл", "Replay a record": "Преглед на запис",
  "Drop a file here: a record of ": "Пуснете файл тук: запис от ", " or the output of ": " или изхода на ",
  ". It stays in your browser.": ". Той остава в браузъра ви.", "the file is larger than 50 MB": "файлът е над 50 MB",
  "Choose another file": "Изберете друг файл", "or drop it here": "или го пуснете тук",
  // play on
  "Play on": "Играй оттук", "Play on from this ply against an engine": "Играйте от този ход срещу програма",
  "Play on from ply {} of {}": "Игра от ход {} на {}", "In the place of": "На мястото на",
  "{} (seat {})": "{} (играч {})", "{}, as in the record": "{}, както в записа",
  "The same deal and the moves up to there, then a game of its own: recorded, and outside the standings.":
    "Същото раздаване и ходовете дотам, после отделна партия: записана и извън класирането.",
  // guesses
  "Guess the move": "Познайте хода", "Your guess": "Вашият ход", "Guess": "Познай", "You": "Вие",
  "Guesses": "Предположения", "Right": "Познати", "The bots": "Ботовете", "Ply {}: {}": "Ход {}: {}",
  "What is played at ply {}? Choose it on the board, or type it.":
    "Какво се играе на ход {}? Изберете го на дъската или го напишете.",
  // highlights
  "Highlights": "Най-интересното", "{} more": "още {}", "Upset": "Изненада", "Comeback": "Обрат", "Cascade": "Каскада",
  "First fault": "Първа грешка", "Game of the day, {}": "Партия на деня, {}",
  "{} wins against {}, rated {} higher": "{} печели срещу {} с рейтинг, по-висок с {}",
  "{} wins after being {} behind at ply {}": "{} печели, след като изостава с {} на ход {}",
  "{}: {} waves by one move, ply {}": "{}: {} вълни с едно движение, ход {}",
  "the lead changes once": "водещият се сменя веднъж", "the lead changes {} times": "водещият се сменя {} пъти",
  "the longest one": "най-дългата",
};

/** One of a thing and several: 1 ход, 2 хода. */
export const COUNTED = {
  game: ["партия", "партии"], ply: ["ход", "хода"], point: ["точка", "точки"], win: ["победа", "победи"],
  fault: ["грешка", "грешки"],
  result: ["резултат", "резултата"], match: ["среща", "срещи"], day: ["ден", "дни"], hour: ["час", "часа"],
  minute: ["минута", "минути"],
  connection: ["връзка", "връзки"],
};

/** Words of the protocol and of the API, which pages show as they are in English. */
export const NAMED = {
  running: "тече", finished: "завършило", incomplete: "незавършено", stopped: "спряно", aborted: "прекратено",
  short: "скъсено", archived: "архивирано",
  over: "завършила", planned: "предстои", complete: "завършена", win: "победа", draw: "равенство", loss: "загуба",
  // formats
  "round-robin": "всеки срещу всеки", matches: "двойки", gauntlet: "претенденти срещу останалите",
  "double-elimination": "до втора загуба",
  knockout: "на отпадане", groups: "групи", swiss: "швейцарска система", ladder: "стълбица", single: "една партия",
  // games
  "Insertion": "Вмъкване", "XO": "Х и О", "Tic-tac-toe": "морски шах",
  "The disc game": "играта с дискове", "Last coin loses": "последната монета губи",
  // tie-breaks
  points: "точки", wins: "победи", "match-points": "точки от срещи", "head-to-head": "пряка среща",
  "sonneborn-berger": "Зонеборн–Бергер", buchholz: "Бухолц", "median-buchholz": "среден Бухолц",
  "buchholz-cut-1": "Бухолц без най-слабия",
  "direct-match": "пряк мач", "pairs-won": "спечелени двойки", "won-plies": "ходове на победите",
  "fewest-faults": "най-малко грешки", "time-used": "използвано време", lot: "жребий",
  void: "анулирана", corrected: "поправена", open: "играе се", "to come": "предстои", vacant: "празно", bye: "почива",
  walkover: "служебно", decided: "решена",
  // states of a contest and of a bot
  paused: "на пауза", draining: "спира плавно", closed: "затворено", playing: "играе", free: "свободен",
  away: "несвързан", gone: "отсъства", frozen: "спрян", probation: "изпитателен срок", kicked: "отстранен",
  withdrawn: "оттеглен", validation: "непроверен",
  "never-connected": "не се е свързвал", "no-version": "без версия",
  // kinds of faults
  timeout: "изтекло време", illegal: "непозволен ход", malformed: "неразбираем ред", flood: "непоискани редове",
  "out-of-turn": "не на ход", disconnect: "прекъсната връзка", "never-ready": "без READY", quit: "отказ",
  resource: "ограничение",
  // who gave an order without a name, and orders
  organiser: "организаторът", "by invitation": "с покана",
  pause: "пауза", resume: "продължаване", drain: "плавно спиране", abort: "прекратяване",
  start: "начало", archive: "архивиране", extend: "удължаване",
  pair: "кръг на ръка", forbid: "забранена двойка", allow: "разрешена двойка",
  shorten: "съкращаване", games: "партии", "games for each group": "партии на двойка или група", rounds: "кръга",
  kick: "отстраняване на", lift: "прощаване на", validate: "проверка на", replay: "повторение на",
  "void-worker": "анулиране на игрите на машината", add: "добавяне на", remove: "оттегляне на", token: "нов ключ за",
  invite: "покана за", register: "регистрация на",
  registration: "регистрация за автор:", approve: "одобрен е", reject: "отхвърлен е",
  forfeit: "служебна загуба", correct: "поправка на",
  disqualify: "дисквалификация на", penalty: "наказание за", undo: "връщане на команда",
};

/** Texts of the server with {} for each value; a value that is such a text itself is translated too. */
export const SERVER = {
  // documents and streams
  "no contest {}": "няма състезание {}", "contest {} draws no rounds": "състезание {} няма кръгове",
  "contest {} has no games of chunk {}": "състезание {} няма част {} от партиите",
  "contest {} has no games of chunk {} in its schedule": "състезание {} няма част {} от програмата",
  "no chunk {}": "няма част {}",
  "the chain of contest {} is published when the contest is over":
    "веригата на състезание {} се публикува след края му",
  "no game {} with a result in contest {}": "няма завършила партия {} в състезание {}",
  "no game {} is running": "няма текуща партия {}",
  "this server shows no running games": "този сървър не показва текущи партии",
  "too many viewers; try later": "твърде много зрители; опитайте по-късно",
  "too many requests from this address": "твърде много заявки от този адрес",
  "this server is not {}; use its address, or name it in server.web_names":
    "този сървър не е {}; използвайте адреса му или го добавете в server.web_names",
  "a request may have {} bytes at most": "заявката може да има най-много {} байта",
  "this server has no numpy, which ratings need: it lacks the extra [ratings]":
    "на сървъра липсва numpy, нужна за рейтингите: допълнението [ratings]",
  "this contest is not rated: its games are practice": "това състезание не се рейтингува: партиите са тренировъчни",
  "no answer from {} within {} s": "няма отговор от {} в срок от {} s",
  "no answer within {} s": "няма отговор в срок от {} s", "the server has ended": "сървърът е спрян",
  "the contest has not begun yet: the database is being opened":
    "състезанието още не е започнало: базата данни се отваря",
  "this stage of the season has not begun yet": "този етап на сезона още не е започнал",
  "say which contest; there are: {}": "посочете състезание; има: {}",
  "no contest {} here; there are: {}": "тук няма състезание {}; има: {}",
  "the contest is over: {}": "състезанието свърши: {}",
  "the server has a contest {}; choose another contest.name":
    "сървърът има състезание {}; изберете друго contest.name",
  "this server takes no contest more": "този сървър не приема повече състезания",
  "the contest is archived: it is shown, and takes no order":
    "състезанието е архивирано: показва се, но не приема наредби",
  "archive: expected a contest that is over, this one is {}; abort ends it":
    "архивира се състезание, което е свършило, а това е {}; прекратяването слага край",
  "archive: the last games are being stored; give the order again":
    "последните партии се записват; дайте наредбата отново",
  "the contest has stopped: give the order once `arena serve` goes on with it":
    "състезанието е спряно: дайте наредбата, щом `arena serve` го продължи",
  "contest {} has no bot {}": "състезание {} няма бот {}", "no bot {}": "няма бот {}", "no place {}": "няма място {}",
  // rounds of a format
  "final": "финал", "semi-finals": "полуфинали", "quarter-finals": "четвъртфинали", "last {}": "кръг на {}",
  "group {}": "група {}", "round {}": "кръг {}", "levels of the bracket passed": "изиграни нива на схемата",
  "winners' final": "финал на победителите", "winners' semi-finals": "полуфинали на победителите",
  "winners' quarter-finals": "четвъртфинали на победителите", "winners' last {}": "кръг на {} победители",
  "losers' round {}": "кръг {} на загубилите", "grand final": "голям финал", "deciding match": "решаваща среща",
  "rounds survived until the second defeat": "изиграни кръгове до втората загуба",
  "third place": "трето място", "levels of the bracket passed, and 1/2 for the third place":
    "изиграни нива на схемата и 1/2 за третото място",
  "points of the rounds: 1 for a pairing won or a bye, 1/2 for a tied one":
    "точки от кръговете: 1 за спечелена среща или почивка, 1/2 за равна",
  "points of the rounds: {} for a pairing won, {} and {} for a tied and a lost one, {} for a bye":
    "точки от кръговете: {} за спечелена среща, {} и {} за равна и загубена, {} за почивка",
  "1 for a place in the bracket and 1 for each of its levels passed; without one the share of the points of the group":
    "1 за място в схемата и 1 за всяко минато ниво; без място делът от точките на групата",
  // running games of another server
  "cannot be reached: {}": "не може да се достигне: {}", "the connection is lost: {}": "връзката прекъсна: {}",
  "no server plays this contest now ({})": "никой сървър не играе това състезание сега ({})",
  "the server closed the connection": "сървърът затвори връзката",
  "the contest is over there (reason={})": "състезанието там свърши ({})",
  "Connection refused": "връзката е отказана",
  // why no game of a contest is offered, and whom it waits for
  "not begun: {} of {} bots are there": "не е започнало: {} от {} бота са тук",
  "closed until {} UTC": "затворено до {} UTC", "closed by its hours": "затворено според часовете му",
  "paused by the organiser": "спряно за малко от организатора",
  "draining: the contest stops once no game runs": "спира плавно: състезанието спира, щом няма партия в ход",
  "the time of the contest is over: it ends once no game runs":
    "времето на състезанието изтече: свършва, щом няма партия в ход",
  "a round is being drawn": "тегли се жребий за кръг",
  "the database has not answered for {} s": "базата от данни не отговаря от {} s",
  "never connected": "не се е свързвал", "no version yet": "още няма версия",
  "its container is frozen, and the Docker engine does not thaw it": "контейнерът му е спрян и Docker не го пуска",
  "not connected since the server started": "не се е свързвал от старта на сървъра",
  "last seen {} UTC": "за последно в {} UTC",
  "kicked by the organiser, {}": "отстранен от организатора, {}",
  "on probation: paired no more after {}, {}": "с изпитателен срок: без партии след {}, {}",
  "until `arena admin lift {}`": "до `arena admin lift {}`",
  "{} faulty game": "{} партия с грешка", "{} faulty games": "{} партии с грешка",
  "{} faulty validation game": "{} пробна партия с грешка",
  "{} faulty validation games": "{} пробни партии с грешка",
  "not validated: its validation game had a fault; {}": "непроверен: пробната му партия имаше грешка; {}",
  "it plays another when it connects again, or by `arena admin validate {}`":
    "играе друга, като се свърже пак, или с `arena admin validate {}`",
  // faults
  "{} at ply {}; {}": "{} на ход {}; {}", "{} before the first ply; {}": "{} преди първия ход; {}",
  "the seat loses the game": "той губи партията",
  "the referee plays {} for it until the game ends": "съдията играе {} вместо него до края",
  "{} used up its clock": "{} изчерпа времето си", "{} sent an illegal move": "{} изпрати непозволен ход",
  "{} sent an illegal move {}": "{} изпрати непозволен ход {}",
  "{} sent a line that cannot be parsed": "{} изпрати неразбираем ред",
  "{} sent a line that cannot be parsed, {}": "{} изпрати неразбираем ред, {}",
  "{} sent too many unasked lines": "{} изпрати твърде много непоискани редове",
  "{} moved out of turn too often": "{} твърде често игра, без да е на ход",
  "{} was not connected and did not come back in time": "{} не беше свързан и не се върна навреме",
  "{} did not send READY in time": "{} не изпрати READY навреме", "{} sent QUIT": "{} изпрати QUIT",
  "{} was stopped by a limit of its container": "{} беше спрян от ограничение на контейнера си",
  "{} was stopped by a limit of its container, {}": "{} беше спрян от ограничение на контейнера си, {}",
  "game {} has no ply {}": "партия {} няма ход {}", "no picture": "няма картинка",
  "too many pictures are being drawn; try later": "рисуват се твърде много картинки; опитайте по-късно",
  // orders and registrations
  "{}: expected a reason, which is shown with the decision": "{}: очаква се причина, която се показва с решението",
  "g{} has this result already": "g{} вече има този резултат",
  "{} has no result yet: void it, or wait for its end": "{} още няма резултат: анулирайте я или я изчакайте",
  "{} is disqualified: undo that first": "{} е дисквалифициран: първо върнете това",
  "a result came meanwhile: give the order again": "междувременно дойде резултат: дайте командата пак",
  "results decide when the contest ends (contest.stop), so they stand":
    "резултатите решават кога свършва състезанието (contest.stop) и затова остават",
  "a round is being drawn: change results once it is": "тегли се кръг: променете резултатите след това",
  "a round is being drawn: give penalty points once it is": "тегли се кръг: дайте наказателни точки след това",
  "no game of a round can leave the table, because rounds follow from it: disqualify with lost":
    "партия от кръг не може да отпадне, защото от нея следват кръгове: възможно е lost",
  'contest.format: "{}" has no points to take: forfeit a game instead':
    'contest.format: "{}" няма точки за отнемане: присъдете служебна загуба на партия',
  "expected {} (its games leave the table) or {} (the others have won them), got {}":
    "очаква се {} (партиите му отпадат) или {} (другите са ги спечелили), получено {}",
  "expected penalty points above 0, as 1 or 0.5, got {}":
    "очакват се наказателни точки над 0, като 1 или 0.5, получено {}",
  "no order stands that could be undone": "няма команда за връщане",
  "order {}, {} {}, cannot be undone: {}": "команда {}, {} {}, не може да се върне: {}",
  "no game {} has a result": "партия {} няма резултат",
  "{} is void, and has no result to change": "{} е анулирана и няма резултат за промяна",
  "{}: what follows from its result has been drawn, so it stands":
    "{}: от резултата вече е теглено и затова той остава",
  "expected the points of each of {} seats, as {}, got {}":
    "очакват се точките на всяко от {} места, като {}, получено {}",
  "{} did not play {}: {} did": "{} не е играл {}: играха {}",
  "a wrong token, or none": "грешен ключ или никакъв",
  "too many wrong tokens from this address": "твърде много грешни ключове от този адрес",
  "expected {}, texts of one line": "очаква се {}, текстове от един ред", "expected {}": "очаква се {}",
  "no page to register on is served: see server.web": "няма страница за регистрация: вижте server.web",
  "{}: expected a number of games up to {}, got {}": "{}: очаква се брой партии до {}, получено {}",
  "extend by {}: more than {} times the {} of now; confirm it":
    "удължаване с {}: над {} пъти повече от сегашните {}; потвърдете го",
  "invite needs a code": "invite иска код",
  "invite: expected the name of an author, got {}": "invite: очаква се име на автор, получено {}",
  "there are {} open invitations already": "вече има {} отворени покани",
  "{} has no invitation that is still open": "{} няма покана, която още важи",
  "registration: expected the name of an author, got {}": "registration: очаква се име на автор, получено {}",
  "{} links are open already": "вече има {} отворени връзки",
  "registration needs a code": "registration иска код",
  "registration: expected how many bots each author may register, 0 to {}, got {}":
    "registration: очаква се колко бота може да регистрира всеки автор, 0 до {}, получено {}",
  "expected the name of an author, got {}": "очаква се име на автор, получено {}",
  "{} has {} of {} bots already": "{} вече има {} от {} бота",
  "{} bots wait for approval already": "вече {} бота чакат одобрение",
  "{} waits for approval by the organiser already": "{} вече чака одобрение от организатора",
  "no bot called {} waits for approval": "никой бот {} не чака одобрение",
  "no bot of this contest is called {}": "в състезанието няма бот {}",
  "no game {} is running or void; the result of any other stands":
    "партия {} нито тече, нито е анулирана; резултатите на другите остават",
  "the commands are {}, not {}": "командите са {}, а не {}", "{} needs the token of {}": "{} иска ключа на {}",
  "{} has left the contest; arena admin add {} brings it back": "{} напусна състезанието; arena admin add {} го връща",
  "{} is a bot of this contest already": "{} вече е бот в състезанието",
  "{}: the workers of this contest have no program of it": "{}: работниците на състезанието нямат негова програма",
  "this server keeps no logs of bots: see server.bot_logs":
    "сървърът не пази дневници на ботове: вижте server.bot_logs",
  "this link has been used already, has expired, or is not complete":
    "връзката вече е използвана, изтекла е или не е цяла",
  "a page of another server asked for this": "поиска го страница от друг сървър",
  "too many wrong links from this address; try again in a minute":
    "твърде много грешни връзки от този адрес; опитайте след минута",
  'contest.format: "{}" takes no late entrants': 'contest.format: "{}" не приема закъснели',
  'contest.format: "{}" takes no late entrants: who meets whom is fixed':
    'contest.format: "{}" не приема закъснели: кой с кого играе е решено',
  "no further round can be drawn of the bots that are left and may meet":
    "с останалите ботове, които могат да се срещнат, не може да се състави нов кръг",
  "{}: expected a Swiss; only its rounds are paired by hand":
    "{}: очаква се швейцарска система; само нейните кръгове се съставят на ръка",
  "{}: expected a reason, which is kept and shown": "{}: очаква се причина, която се пази и показва",
  "a round is being drawn: give the order once it is": "съставя се кръг: дайте нареждането след това",
  "pair: {}; confirm it": "pair: {}; потвърдете го",
  "expected two bots as ann:bob, got {}": "очакват се два бота като ann:bob, получено {}",
  "{} {} meet already": "{} {} да се срещнат вече",
  "forbid: not all {} rounds that are left could be drawn then; confirm it":
    "forbid: тогава не всички {} оставащи кръга могат да се съставят; потвърдете го",
  "expected pairs as ann:bob,cid:dan,eve, got {}": "очакват се двойки като ann:bob,cid:dan,eve, получено {}",
  "{} has had a bye": "{} вече е почивал",
  "{} and {} have met": "{} и {} са се срещали",
  "{} and {} must not meet: the pair is forbidden": "{} и {} не бива да се срещат: двойката е забранена",
  '{} and {} must not meet: same_owner is "never", and both are of {}':
    '{} и {} не бива да се срещат: same_owner е "never", а и двата са на {}',
  "no bot of this contest is called {}, or it has left": "в състезанието няма бот {} или го е напуснал",
  "{} is in the round {} times": "{} е в кръга {} пъти",
  "the round is without {}: each plays, or one has the bye": "в кръга липсва {}: всеки играе или един почива",
  "expected one bye at most, got {}": "очаква се най-много един почиващ, получено {}",
  "expected a pair": "очаква се двойка",
  "games of round {} have begun: it can be paired by hand before that":
    "партии от кръг {} са започнали: на ръка се съставя преди това",
  "all {} rounds have been drawn": "всички {} кръга са съставени",
  'contest.format: "{}" cannot be extended or shortened': 'contest.format: "{}" не може да се удължи или съкрати',
  "expected at most {} {} more, as {}, got {}": "очакват се най-много още {} {}, защото {}, получени {}",
  "a contest has at most {} games": "състезание има най-много {} партии",
  "no two bots meet twice": "никои два бота не се срещат пак",
  "expected at most {} {} less, as {} have begun or are the least, got {}":
    "очакват се най-много {} {} по-малко, защото {} са започнали или са най-малкото, получени {}",
  "a round is being drawn: change the number of games once it is":
    "тегли се кръг: променете броя на партиите след това",
  "expected {} games, got {}": "очакват се {} партии, получени {}", "a multiple of {}": "кратно на {}",
  "a number above 0": "повече от 0",
  "contest.format: the last round has been drawn": "contest.format: последният кръг е изтеглен",
  "contest.games: this ladder is open, and has no number of games to extend":
    "contest.games: тази стълбица е без край и няма брой партии за удължаване",
  "the contest ends early: it is certain who is first (contest.stop)":
    "състезанието свършва предсрочно: сигурно е кой е пръв (contest.stop)",
  "no place for it: {} connections are {} slots of bots and {} for clients that log in or watch; raise server.max_connections":
    "няма място за него: {} връзки са {} места на ботове и {} за влизащи и зрители; увеличете server.max_connections",
  "no place for another bot: submissions.late is {}; the organiser may withdraw one":
    "няма място за още един бот: submissions.late е {}; организаторът може да оттегли някой",
  "no worker plays games of this contest: it has no --on":
    "никой работник не играе партии на това състезание: то няма --on",
  // workers that are unlike the others
  "its games take longer": "партиите му траят повече", "its games take less time": "партиите му траят по-малко",
  "it has more time-outs": "има повече изтекли времена", "it has fewer time-outs": "има по-малко изтекли времена",
  "{} gets more points there": "{} взема повече точки там", "{} gets fewer points there": "{} взема по-малко точки там",
  // games of visitors
  "a move is a word of ASCII characters": "ходът е дума от знаци ASCII",
  "a page of another server asked for this game": "партията е поискана от страница на друг сървър",
  "another player is called {}: choose another name": "друг играч се казва {}: изберете друго име",
  "expected a seat from 1 to {}, got {}": "очаква се място от 1 до {}, получено {}",
  "expected as your name {}, got {}": "за име се очаква {}, получено {}",
  "expected {} as a {}, got {}": "очаква се {} като {}, получено {}", "it is not your turn": "не сте на ход",
  "no engine {} for {}; there are: {}": "няма програма {} за {}; има: {}",
  "{} is no engine that this server can start": "{} не е програма, която този сървър може да пусне",
  "expected from as contest, game and ply, got {}": "за from се очакват състезание, партия и ход, получено {}",
  "this server has no records to play on from": "този сървър няма записи, от които да се играе",
  "expected a ply from 0 to {}, after which a move is to come, got {}":
    "очаква се ход от 0 до {}, след който има още един, получен {}",
  "every player has left": "всички играчи си тръгнаха",
  "the game was ended after {} hours": "партията беше прекратена след {} часа",
  "no page showed this seat": "никоя страница не показваше това място",
  "a player has not come": "един от играчите не дойде",
  "others have been started since, and none of its links was used":
    "междувременно започнаха други, а никоя от връзките ѝ не беше използвана",
  "no game waits for you": "няма партия, която ви чака", "no game {}; there are: {}": "няма игра {}; има: {}",
  "no move can be taken back in this game": "в тази партия ход не се връща",
  "the engines cannot be listed: it takes too long": "програмите не могат да се изброят: отнема твърде дълго",
  "the engines cannot be listed: {}": "програмите не могат да се изброят: {}",
  "the referee cannot be reached: {}": "съдията не може да се достигне: {}",
  "the connection to the referee is lost: {}": "връзката със съдията прекъсна: {}",
  "the game cannot be played: {}": "партията не може да се изиграе: {}",
  "the pages were too slow for the games, and begin again": "страниците не смогнаха с партиите и започват отначало",
  "the referee cannot be reached now": "съдията не може да се достигне сега",
  "there is a rematch after a game that was started here": "реванш има след партия, започната тук",
  "this server starts no games": "този сървър не започва партии",
  "too many games from this address; try again in a minute": "твърде много партии от този адрес; опитайте след минута",
  "too many wrong links from this address": "твърде много грешни връзки от този адрес",
  "you have not moved yet": "още не сте играли",
  "{} games {}are being played here, as many as may be; try later":
    "тук се играят {} партии {}, повече не може; опитайте по-късно",
  "{} moves have been taken back, as many as may be": "върнати са {} хода, повече не може",
};

/** Texts of positions: labels, and the words for who does not see the board. */
export const BOARD = {
  "take {}": "вземи {}", "{} of {} coins are left; the last one loses.": "остават {} от {} монети; последната губи.",
  "Disc: {} on top, sum {}, {} wins.": "Диск: горе е {}, сборът е {}, {} печели.",
};

/** Texts of the check of a record and of its parser. */
export const CHECK = {
  "{}: {}: expected {}, found {}": "{}: {}: очаква се {}, намерено {}",
  "{}: expected {}, found {}": "{}: очаква се {}, намерено {}", "the check failed: {}": "проверката се провали: {}",
  // where
  "start": "начало", "end": "край", "ply {}": "ход {}", "note of ply {}": "бележка за ход {}",
  "list of the contest": "списък на състезанието", "head of the chain": "глава на веригата",
  "place {} of the chain": "място {} във веригата",
  // what
  "board": "дъска", "ply": "ход", "sequence": "поредица", "commit": "отпечатък на раздаването", "seat": "играч",
  "move": "ход", "plies": "ходове", "points": "точки", "total": "сбор", "totals": "сборове", "names": "имена",
  "faults": "грешки", "fault": "грешка",
  "contest": "състезание", "game_id": "партия", "clock": "часовник", "time": "време", "credit": "опрощение",
  "lag": "закъснение", "zombie": "зомби", "final position": "последна позиция",
  "seat of fault {}": "играч на грешката {}", "ply of fault {}": "ход на грешката {}",
  "time of a zombie": "време на зомби", "lag and credit of a zombie": "закъснение и опрощение на зомби",
  "move of a zombie": "ход на зомби", "time on which the flag fell": "време, при което падна флагът",
  "time without a fault": "време без грешка",
  // what was expected, what was found
  "a record of digest {}": "запис с отпечатък {}", "{} or later": "{} или по-късно", "{} or more": "{} или повече",
  "one of {}": "едно от {}", "{} to {}": "от {} до {}", "a legal move": "позволен ход",
  "none after the end ({})": "без ходове след края ({})",
  "none after a forfeit": "без ходове след служебна загуба", "at most {}": "най-много {}",
  "more than {}": "повече от {}", "move {}": "ход {}",
  "void (the game is not over)": "анулирана (играта не е свършила)",
  // a file that is no record
  "not a record: {}": "не е запис: {}", "damaged record: {}": "повреден запис: {}",
  "not a record, or a damaged one: its bytes do not match its SHA-256 digest":
    "не е запис или е повреден: байтовете му не отговарят на отпечатъка SHA-256",
  "expected a map": "очаква се речник", "it ends too early": "свършва твърде рано",
  "a number beyond 53 bits": "число над 53 бита", "nested too deeply": "твърде дълбоко вложен",
  "unexpected byte {}": "неочакван байт {}", "bytes behind its end": "байтове след края му",
  "expected an object": "очаква се обект",
  "format {}; this page reads format {}": "формат {}; страницата чете формат {}",
  "{} is not a whole number": "{} не е цяло число", "{} is not a text": "{} не е текст",
  "images are not texts": "образите не са текстове",
  "names are not texts": "имената не са текстове", "options are not texts": "опциите не са текстове",
  "totals are not one whole number per seat": "сборовете не са по едно цяло число на играч",
  "plies are not a list": "ходовете не са списък", "faults are not a list": "грешките не са списък",
  "ply {}: seat {}": "ход {}: играч {}", "fault {}": "грешка {}", "infos are not notes": "бележките не са бележки",
  "usage is not that of seats": "използваното не е на играчи",
  "scenes are not positions for the start and for plies": "сцените не са позиции на началото и на ходовете",
  // rules
  "no rules for the game {} here": "тук няма правила на играта {}",
  "a board is five rows of five cells joined by '/', not {}":
    "дъската е пет реда по пет клетки, разделени с '/', а не {}",
  "a cell is '.' or a colour from 1 to {}, not {}": "клетката е '.' или цвят от 1 до {}, а не {}",
  "a picture hangs over an empty cell in column {}": "картинка виси над празна клетка в колона {}",
  "insertion: {} is a whole number from {} to {}, not {}": "insertion: {} е цяло число от {} до {}, а не {}",
  "insertion: start is one of {}, not {}": "insertion: start е едно от {}, а не {}",
  "insertion: give either start or board, not both": "insertion: или start, или board, не и двете",
  "a start board has no run of three or more of one colour: {}":
    "в началната дъска няма три или повече еднакви картинки в редица: {}",
  "a game of {} plies has no more pictures, and here are {}": "партия от {} хода няма повече картинки, а тук са {}",
  "a picture is a colour from 1 to {}, not {}": "картинката е цвят от 1 до {}, а не {}",
  "the game is over: all {} plies are played": "играта свърши: всички {} хода са изиграни",
  "a move of insertion is a number from {} to {}, not {}": "ходът в insertion е число от {} до {}, а не {}",
  "the picture of ply {} is not known": "картинката на ход {} не е известна",
  "Its file has no positions, and this page has no rules of {}. Open what “arena replay GAME --html FILE” or “--json” has written.":
    "Във файла няма позиции, а тази страница няма правилата на {}. Отворете това, което е записала “arena replay GAME --html FILE” или “--json”.",
};
