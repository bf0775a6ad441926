// A starter bot for insertion in C++17. Replace `choose`; the rest can stay as it is.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using std::string;
using Options = std::map<string, string>;

struct Game {
    int seat = 0;
    string board;           // the start: rows from the top, joined by `/`
    string pictures;        // all that were shown so far; pictures[moves.size()] is to be inserted now
    std::vector<int> moves; // all plies so far
    long clock = 0;         // milliseconds left to this seat
    Options options;        // all that GAME said
};

// Return a move from 1 to 15.
static int choose(const Game& game) {
    return 6 + static_cast<int>(game.moves.size() % 5); // drops into the five columns in turn
}

static void debug(const char* mark, const string& line) {
    const char* wanted = std::getenv("ARENA_DEBUG");
    if (!wanted || string(wanted) != "1") return;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch()).count();
    const std::time_t seconds = now / 1000;
    char stamp[16];
    std::strftime(stamp, sizeof stamp, "%H:%M:%S", std::gmtime(&seconds));
    std::fprintf(stderr, "%s.%03d %s %s\n", stamp, static_cast<int>(now % 1000), mark, line.c_str());
}

static Options options_of(const string& line) {
    Options options;
    std::istringstream words(line);
    for (string word; words >> word;)
        if (const auto at = word.find('='); at != string::npos) options[word.substr(0, at)] = word.substr(at + 1);
    return options;
}

class Bot {
  public:
    Bot(string host, string port, string name, string token)
        : host_(std::move(host)), port_(std::move(port)), name_(std::move(name)), token_(std::move(token)) {}

    // Play until the server says BYE; return the exit status.
    int run() {
        for (; tries_ < 12;) {
            long pause = std::min(5000L, 100L << tries_++);
            const bool resuming = !resume_.empty();
            const string last = visit();
            std::istringstream words(last);
            string verb, code;
            words >> verb >> code;
            if (verb == "BYE" && code != "reason=slow") {
                const char* wanted = std::getenv("ARENA_CONTEST");
                const string again = options_of(last)["again"];
                if (again.empty() || (wanted && *wanted)) return 0;
                pause = std::atol(again.c_str()); // another contest may follow, which knows no key of this one
                resume_.clear(), known_ = false, tries_ = 0;
            }
            if (verb == "ERROR") {
                if (code == "token" && resuming) resume_.clear(); // spent or forgotten: log in by name and token
                else if (code != "full" && code != "rate" && !(known_ && code == "name-taken")) return 1;
                pause = std::max(pause, std::atol(options_of(last)["retry_after"].c_str()));
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(pause));
        }
        std::fprintf(stderr, "gave up on %s:%s\n", host_.c_str(), port_.c_str());
        return 1;
    }

  private:
    // Play on one connection; return the line that ended it, or an empty one if it was cut.
    string visit() {
        addrinfo hints{}, *all = nullptr;
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host_.c_str(), port_.c_str(), &hints, &all)) return "";
        sock_ = -1;
        for (addrinfo* one = all; one && sock_ < 0; one = one->ai_next) {
            sock_ = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
            if (sock_ >= 0 && connect(sock_, one->ai_addr, one->ai_addrlen)) { close(sock_); sock_ = -1; }
        }
        freeaddrinfo(all);
        if (sock_ < 0) return "";
        const int on = 1;
        setsockopt(sock_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        greeted_ = welcomed_ = false;
        string pending, last;
        char chunk[4096];
        for (ssize_t size; last.empty() && (size = read(sock_, chunk, sizeof chunk)) > 0;) {
            pending.append(chunk, static_cast<size_t>(size));
            for (size_t end; last.empty() && (end = pending.find('\n')) != string::npos; pending.erase(0, end + 1)) {
                string line = pending.substr(0, end);
                if (!line.empty() && line.back() == '\r') line.pop_back();
                if (receive(line)) last = line;
            }
        }
        close(sock_);
        return last;
    }

    void send(const string& line) {
        debug(">", line);
        const string out = line + "\n";
        for (size_t sent = 0; sent < out.size();) {
            const ssize_t size = write(sock_, out.data() + sent, out.size() - sent);
            if (size <= 0) return; // reading will show the cut
            sent += static_cast<size_t>(size);
        }
    }

    // Act on one line; return whether it ends the connection.
    bool receive(const string& line) {
        debug("<", line);
        std::istringstream words(line);
        string verb, word;
        words >> verb >> word;
        Options options = options_of(line);
        if (verb == "ZOMBIE" || verb == "OVER" || verb == "ERROR" || verb == "BYE") {
            std::puts(line.c_str());
            std::fflush(stdout);
        }
        if (verb == "ARENA" && word == "1") {
            greeted_ = true;
            const string key = !resume_.empty() ? " resume=" + resume_ : !token_.empty() ? " token=" + token_ : "";
            const char* number = std::getenv("ARENA_SLOT");
            const string slot = number && *number ? string(" slot=") + number : "";
            const char* wanted = std::getenv("ARENA_CONTEST");
            const string contest = wanted && *wanted ? string(" contest=") + wanted : "";
            send("HELLO 1 " + name_ + " games=insertion agent=cpp-starter/1" + slot + contest + key);
        } else if (verb == "BYE" || (verb == "ERROR" && !welcomed_)) {
            return true;
        } else if (!verb.empty() && !greeted_) {
            std::fprintf(stderr, "this is no server of version 1 of the arena protocol: %.80s\n", line.c_str());
            std::exit(1);
        } else if (verb == "WELCOME") {
            welcomed_ = known_ = true;
            tries_ = 0;
            resume_ = options["resume"];
        } else if (verb == "PING") {
            send("PONG " + word);
        } else if (verb == "GAME") {
            game_ = Game{};
            game_.seat = std::atoi(options["seat"].c_str());
            game_.options = options;
            send("READY " + word); // warm up before this line: no clock runs yet
        } else if (verb == "STATE") {
            game_.board = word;
        } else if (verb == "NEXT") {
            game_.pictures = word;
        } else if (verb == "PLAYED") {
            game_.moves.push_back(std::atoi(options["move"].c_str()));
            game_.pictures += options["reveal"];
        } else if (verb == "TURN") {
            std::istringstream clocks(options["clock"]);
            string clock;
            for (int seat = 0; seat < game_.seat; seat++) std::getline(clocks, clock, ',');
            game_.clock = std::atol(clock.c_str());
            send("MOVE " + std::to_string(choose(game_)));
        }
        return false;
    }

    string host_, port_, name_, token_;
    string resume_;      // the key of the last WELCOME
    bool known_ = false; // logged in before
    int tries_ = 0;      // connections since then
    int sock_ = -1;
    bool greeted_ = false, welcomed_ = false;
    Game game_;
};

int main(int count, char** given) {
    const auto variable = [](const char* key) { const char* value = std::getenv(key); return string(value ? value : ""); };
    const bool arguments = count > 3 && variable("ARENA_HOST").empty();
    const string host = arguments ? given[1] : variable("ARENA_HOST"), port = arguments ? given[2] : variable("ARENA_PORT");
    const string name = arguments ? given[3] : variable("ARENA_NAME");
    if (host.empty() || port.empty() || name.empty()) {
        std::fprintf(stderr, "usage: starter HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set\n");
        return 1;
    }
    std::signal(SIGPIPE, SIG_IGN);
    return Bot(host, port, name, variable("ARENA_TOKEN")).run();
}
