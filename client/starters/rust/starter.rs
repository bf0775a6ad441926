//! A starter bot for insertion in Rust, with the standard library alone. Replace `choose`; the rest can stay.
use std::collections::HashMap;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::exit;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Default)]
#[allow(dead_code)] // `choose` below needs little of it; yours will need more
struct Game {
    seat: usize,
    board: String,    // the start: rows from the top, joined by `/`
    pictures: String, // all that were shown so far; the one at moves.len() is to be inserted now
    moves: Vec<u8>,   // all plies so far
    clock: u64,       // milliseconds left to this seat
    options: HashMap<String, String>, // all that GAME said
}

/// Return a move from 1 to 15.
fn choose(game: &Game) -> usize {
    6 + game.moves.len() % 5 // drops into the five columns in turn
}

#[derive(Default)]
struct Login {
    resume: String, // the key of the last WELCOME
    known: bool,    // logged in before
    tries: u32,     // connections since then
}

fn debug(mark: &str, line: &str) {
    if env::var("ARENA_DEBUG").as_deref() == Ok("1") {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (s, ms) = (now.as_secs(), now.subsec_millis());
        eprintln!("{:02}:{:02}:{:02}.{:03} {} {}", s / 3600 % 24, s / 60 % 60, s % 60, ms, mark, line);
    }
}

fn options_of(line: &str) -> HashMap<String, String> {
    line.split(' ').filter_map(|word| word.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect()
}

fn send(sock: &mut TcpStream, line: &str) {
    debug(">", line);
    let _ = sock.write_all(format!("{}\n", line).as_bytes()); // reading will show a cut
}

/// Play on one connection; return the line that ended it, or an empty one if it was cut.
fn converse(mut sock: TcpStream, name: &str, token: &str, login: &mut Login) -> std::io::Result<String> {
    sock.set_nodelay(true)?;
    let mut lines = BufReader::new(sock.try_clone()?);
    let (mut game, mut greeted, mut welcomed) = (Game::default(), false, false);
    loop {
        let mut raw = Vec::new();
        lines.read_until(b'\n', &mut raw)?;
        if raw.last() != Some(&b'\n') {
            return Ok(String::new()); // the end, or a line that was cut
        }
        let text = String::from_utf8_lossy(&raw);
        let line = text.trim_end_matches(&['\r', '\n'][..]);
        debug("<", line);
        let mut words = line.split(' ');
        let (verb, word) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let options = options_of(line);
        let value = |key: &str| options.get(key).cloned().unwrap_or_default();
        if ["ZOMBIE", "OVER", "ERROR", "BYE"].contains(&verb) {
            println!("{}", line);
        }
        match verb {
            "ARENA" if word == "1" => {
                greeted = true;
                let key = if !login.resume.is_empty() {
                    format!(" resume={}", login.resume)
                } else if !token.is_empty() {
                    format!(" token={}", token)
                } else {
                    String::new()
                };
                let number = env::var("ARENA_SLOT").unwrap_or_default();
                let slot = if number.is_empty() { number } else { format!(" slot={}", number) };
                let wanted = env::var("ARENA_CONTEST").unwrap_or_default();
                let contest = if wanted.is_empty() { wanted } else { format!(" contest={}", wanted) };
                send(&mut sock, &format!("HELLO 1 {} games=insertion agent=rust-starter/1{}{}{}", name, slot, contest, key));
            }
            "BYE" => return Ok(line.to_string()),
            "ERROR" if !welcomed => return Ok(line.to_string()),
            "" => {}
            _ if !greeted => {
                let head: String = line.chars().take(80).collect();
                eprintln!("this is no server of version 1 of the arena protocol: {}", head);
                exit(1);
            }
            "WELCOME" => {
                welcomed = true;
                *login = Login { resume: value("resume"), known: true, tries: 0 };
            }
            "PING" => send(&mut sock, &format!("PONG {}", word)),
            "GAME" => {
                let seat = value("seat").parse().unwrap_or(1);
                game = Game { seat, options, ..Game::default() };
                send(&mut sock, &format!("READY {}", word)); // warm up before this line: no clock runs yet
            }
            "STATE" => game.board = word.to_string(),
            "NEXT" => game.pictures = word.to_string(),
            "PLAYED" => {
                game.moves.push(value("move").parse().unwrap_or(0));
                game.pictures += &value("reveal");
            }
            "TURN" => {
                let clock = value("clock");
                game.clock = clock.split(',').nth(game.seat - 1).and_then(|ms| ms.parse().ok()).unwrap_or(0);
                send(&mut sock, &format!("MOVE {}", choose(&game)));
            }
            _ => {}
        }
    }
}

fn main() {
    let given: Vec<String> = env::args().collect();
    let variable = |key: &str| env::var(key).unwrap_or_default();
    let (host, port, name) = if variable("ARENA_HOST").is_empty() && given.len() > 3 {
        (given[1].clone(), given[2].clone(), given[3].clone())
    } else {
        (variable("ARENA_HOST"), variable("ARENA_PORT"), variable("ARENA_NAME"))
    };
    if host.is_empty() || port.is_empty() || name.is_empty() {
        eprintln!("usage: starter HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set");
        exit(1);
    }
    let (token, mut login) = (variable("ARENA_TOKEN"), Login::default());
    while login.tries < 12 {
        let mut pause = (100u64 << login.tries).min(5000);
        let resuming = !login.resume.is_empty();
        login.tries += 1;
        let last = TcpStream::connect(format!("{}:{}", host, port))
            .and_then(|sock| converse(sock, &name, &token, &mut login))
            .unwrap_or_default();
        let mut words = last.split(' ');
        let (verb, code) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        if verb == "BYE" && code != "reason=slow" {
            match options_of(&last).get("again").and_then(|ms| ms.parse().ok()) {
                Some(wait) if variable("ARENA_CONTEST").is_empty() => pause = wait,
                _ => return,
            }
            login = Login::default(); // another contest may follow, which knows no key of this one
        }
        if verb == "ERROR" {
            if code == "token" && resuming {
                login.resume.clear(); // spent or forgotten: log in by name and token
            } else if code != "full" && code != "rate" && !(login.known && code == "name-taken") {
                exit(1);
            }
            let wait = options_of(&last).get("retry_after").and_then(|ms| ms.parse().ok()).unwrap_or(0);
            pause = pause.max(wait);
        }
        sleep(Duration::from_millis(pause));
    }
    eprintln!("gave up on {}:{}", host, port);
    exit(1);
}
