// A starter bot for insertion in Go, with the standard library alone. Replace choose; the rest can stay as it is.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

type game struct {
	seat     int
	board    string            // the start: rows from the top, joined by `/`
	pictures string            // all that were shown so far; pictures[len(moves)] is to be inserted now
	moves    []int             // all plies so far
	clock    int               // milliseconds left to this seat
	options  map[string]string // all that GAME said
}

// choose returns a move from 1 to 15.
func choose(g *game) int {
	return 6 + len(g.moves)%5 // drops into the five columns in turn
}

var (
	resume string // the key of the last WELCOME
	known  bool   // logged in before
	tries  int    // connections since then
)

func debug(mark, line string) {
	if os.Getenv("ARENA_DEBUG") == "1" {
		fmt.Fprintln(os.Stderr, time.Now().UTC().Format("15:04:05.000"), mark, line)
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}

func optionsOf(words []string) map[string]string {
	options := map[string]string{}
	for _, word := range words {
		if key, value, found := strings.Cut(word, "="); found {
			options[key] = value
		}
	}
	return options
}

// converse plays on one connection and returns the line that ended it, or an empty one if it was cut.
func converse(sock net.Conn, name, token string) string {
	send := func(line string) {
		debug(">", line)
		fmt.Fprintf(sock, "%s\n", line) // Go switches Nagle's algorithm off by itself; reading will show a cut
	}
	lines := bufio.NewReader(sock)
	g, greeted, welcomed := &game{}, false, false
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return "" // the end, or a line that was cut
		}
		line = strings.TrimRight(line, "\r\n")
		debug("<", line)
		words := append(strings.Split(line, " "), "")
		verb, word, options := words[0], words[1], optionsOf(words)
		if verb == "ZOMBIE" || verb == "OVER" || verb == "ERROR" || verb == "BYE" {
			fmt.Println(line)
		}
		switch {
		case verb == "ARENA" && word == "1":
			greeted = true
			hello := "HELLO 1 " + name + " games=insertion agent=go-starter/1"
			if slot := os.Getenv("ARENA_SLOT"); slot != "" {
				hello += " slot=" + slot
			}
			if contest := os.Getenv("ARENA_CONTEST"); contest != "" {
				hello += " contest=" + contest
			}
			if resume != "" {
				hello += " resume=" + resume
			} else if token != "" {
				hello += " token=" + token
			}
			send(hello)
		case verb == "BYE" || (verb == "ERROR" && !welcomed):
			return line
		case verb == "":
		case !greeted:
			fail(fmt.Sprintf("this is no server of version 1 of the arena protocol: %.80s", line))
		case verb == "WELCOME":
			welcomed, known, tries, resume = true, true, 0, options["resume"]
		case verb == "PING":
			send("PONG " + word)
		case verb == "GAME":
			g = &game{options: options}
			g.seat, _ = strconv.Atoi(options["seat"])
			send("READY " + word) // warm up before this line: no clock runs yet
		case verb == "STATE":
			g.board = word
		case verb == "NEXT":
			g.pictures = word
		case verb == "PLAYED":
			move, _ := strconv.Atoi(options["move"])
			g.moves = append(g.moves, move)
			g.pictures += options["reveal"]
		case verb == "TURN":
			g.clock, _ = strconv.Atoi(strings.Split(options["clock"], ",")[g.seat-1])
			send("MOVE " + strconv.Itoa(choose(g)))
		}
	}
}

func main() {
	given := []string{os.Getenv("ARENA_HOST"), os.Getenv("ARENA_PORT"), os.Getenv("ARENA_NAME")}
	if given[0] == "" && len(os.Args) > 3 {
		given = os.Args[1:4]
	}
	host, port, name := given[0], given[1], given[2]
	if host == "" || port == "" || name == "" {
		fail("usage: starter HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set")
	}
	for tries < 12 {
		pause, resuming, last := 100<<tries, resume != "", ""
		if pause > 5000 {
			pause = 5000
		}
		tries++
		if sock, err := net.Dial("tcp", net.JoinHostPort(host, port)); err == nil {
			last = converse(sock, name, os.Getenv("ARENA_TOKEN"))
			sock.Close()
		}
		words := append(strings.Split(last, " "), "")
		code := words[1]
		if words[0] == "BYE" && code != "reason=slow" {
			again, err := strconv.Atoi(optionsOf(words)["again"])
			if err != nil || os.Getenv("ARENA_CONTEST") != "" {
				return
			}
			pause, resume, known, tries = again, "", false, 0 // another contest may follow, which knows no key of this one
		}
		if words[0] == "ERROR" {
			if code == "token" && resuming {
				resume = "" // spent or forgotten: log in by name and token
			} else if code != "full" && code != "rate" && !(known && code == "name-taken") {
				os.Exit(1)
			}
			if wait, _ := strconv.Atoi(optionsOf(words)["retry_after"]); wait > pause {
				pause = wait
			}
		}
		time.Sleep(time.Duration(pause) * time.Millisecond)
	}
	fail("gave up on " + host + ":" + port)
}
