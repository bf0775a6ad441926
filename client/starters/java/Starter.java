import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A starter bot for insertion in Java 17, with the JDK alone. Replace {@code choose}; the rest can stay. */
public class Starter {
    static class Game {
        int seat;
        String board = "";    // the start: rows from the top, joined by `/`
        String pictures = ""; // all that were shown so far; the one at moves.size() is to be inserted now
        List<Integer> moves = new ArrayList<>(); // all plies so far
        long clock;           // milliseconds left to this seat
        Map<String, String> options = new HashMap<>(); // all that GAME said
    }

    /** Return a move from 1 to 15. */
    static int choose(Game game) {
        return 6 + game.moves.size() % 5; // drops into the five columns in turn
    }

    static final boolean DEBUG = "1".equals(System.getenv("ARENA_DEBUG"));
    static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");

    final String name, token;
    String resume = "";    // the key of the last WELCOME
    boolean known = false; // logged in before
    int tries = 0;         // connections since then
    Socket sock;
    Game game = new Game();

    Starter(String name, String token) {
        this.name = name;
        this.token = token;
    }

    static void debug(String mark, String line) {
        if (DEBUG) System.err.println(LocalTime.now(ZoneOffset.UTC).format(STAMP) + " " + mark + " " + line);
    }

    static void fail(String text) {
        System.err.println(text);
        System.exit(1);
    }

    void send(String line) throws IOException {
        debug(">", line);
        sock.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** Read a line without its end; null at the end of the connection, even inside a line. */
    static String readLine(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next; (next = in.read()) != '\n'; line.write(next)) if (next < 0) return null;
        String text = line.toString(StandardCharsets.ISO_8859_1);
        return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }

    static Map<String, String> optionsOf(String line) {
        Map<String, String> options = new HashMap<>();
        for (String word : line.split(" ")) {
            int at = word.indexOf('=');
            if (at > 0) options.put(word.substring(0, at), word.substring(at + 1));
        }
        return options;
    }

    /** Play on one connection; return the line that ended it, or an empty one if it was cut. */
    String converse() throws IOException {
        sock.setTcpNoDelay(true);
        InputStream in = new BufferedInputStream(sock.getInputStream());
        boolean greeted = false, welcomed = false;
        for (String line; (line = readLine(in)) != null;) {
            debug("<", line);
            String[] words = (line + " ").split(" ", 3);
            String verb = words[0], word = words[1];
            Map<String, String> options = optionsOf(line);
            if (List.of("ZOMBIE", "OVER", "ERROR", "BYE").contains(verb)) System.out.println(line);
            if (verb.equals("ARENA") && word.equals("1")) {
                greeted = true;
                String key = !resume.isEmpty() ? " resume=" + resume : !token.isEmpty() ? " token=" + token : "";
                String number = System.getenv().getOrDefault("ARENA_SLOT", "");
                String slot = number.isEmpty() ? "" : " slot=" + number;
                String wanted = System.getenv().getOrDefault("ARENA_CONTEST", "");
                String contest = wanted.isEmpty() ? "" : " contest=" + wanted;
                send("HELLO 1 " + name + " games=insertion agent=java-starter/1" + slot + contest + key);
            } else if (verb.equals("BYE") || (verb.equals("ERROR") && !welcomed)) {
                return line;
            } else if (!verb.isEmpty() && !greeted) {
                fail("this is no server of version 1 of the arena protocol: " + line.substring(0, Math.min(80, line.length())));
            } else if (verb.equals("WELCOME")) {
                welcomed = known = true;
                tries = 0;
                resume = options.get("resume");
            } else {
                answer(verb, word, options);
            }
        }
        return "";
    }

    void answer(String verb, String word, Map<String, String> options) throws IOException {
        switch (verb) {
            case "PING" -> send("PONG " + word);
            case "GAME" -> {
                game = new Game();
                game.seat = Integer.parseInt(options.get("seat"));
                game.options = options;
                send("READY " + word); // warm up before this line: no clock runs yet
            }
            case "STATE" -> game.board = word;
            case "NEXT" -> game.pictures = word;
            case "PLAYED" -> {
                game.moves.add(Integer.parseInt(options.get("move")));
                game.pictures += options.getOrDefault("reveal", "");
            }
            case "TURN" -> {
                game.clock = Long.parseLong(options.get("clock").split(",")[game.seat - 1]);
                send("MOVE " + choose(game));
            }
            default -> { }
        }
    }

    /** Play until the server says BYE; return the exit status. */
    int run(String host, int port) throws InterruptedException {
        while (tries < 12) {
            long pause = Math.min(5000, 100L << tries++);
            boolean resuming = !resume.isEmpty();
            String last = "";
            try (Socket connection = new Socket(host, port)) {
                sock = connection;
                last = converse();
            } catch (IOException error) {
                debug("#", error.toString());
            }
            String[] words = (last + "  ").split(" ", 3);
            String code = words[1];
            if (words[0].equals("BYE") && !code.equals("reason=slow")) {
                String again = optionsOf(last).get("again");
                if (again == null || !variable("ARENA_CONTEST").isEmpty()) return 0;
                pause = Long.parseLong(again); // another contest may follow, which knows no key of this one
                resume = "";
                known = false;
                tries = 0;
            }
            if (words[0].equals("ERROR")) {
                if (code.equals("token") && resuming) resume = ""; // spent or forgotten: log in by name and token
                else if (!code.equals("full") && !code.equals("rate") && !(known && code.equals("name-taken"))) return 1;
                pause = Math.max(pause, Long.parseLong(optionsOf(last).getOrDefault("retry_after", "0")));
            }
            Thread.sleep(pause);
        }
        System.err.println("gave up on " + host + ":" + port);
        return 1;
    }

    static String variable(String key) {
        return System.getenv().getOrDefault(key, "");
    }

    public static void main(String[] given) throws InterruptedException {
        if (!variable("ARENA_HOST").isEmpty() || given.length < 3)
            given = new String[] {variable("ARENA_HOST"), variable("ARENA_PORT"), variable("ARENA_NAME")};
        if (given[0].isEmpty() || given[1].isEmpty() || given[2].isEmpty())
            fail("usage: java Starter HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set");
        System.exit(new Starter(given[2], variable("ARENA_TOKEN")).run(given[0], Integer.parseInt(given[1])));
    }
}
