/* A starter bot for insertion in C. Replace `choose`; the rest can stay as it is. */
#define _POSIX_C_SOURCE 200809L
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 65536 + 2, PLIES = 60000 };

struct game {
    int seat, moves[PLIES], plies; /* all moves so far */
    char board[30];                /* the start: rows from the top, joined by `/` */
    char pictures[PLIES + 1];      /* all that were shown so far; pictures[plies] is to be inserted now */
    long clock;                    /* milliseconds left to this seat */
};

/* Return a move from 1 to 15. */
static int choose(const struct game *game) {
    return 6 + game->plies % 5; /* drops into the five columns in turn */
}

static struct game game;
static char resume[256]; /* the key of the last WELCOME, empty if there is none */
static int known, tries;  /* logged in before; connections since then */

static void debug(const char *mark, const char *line) {
    struct timespec now;
    char stamp[16];
    const char *wanted = getenv("ARENA_DEBUG");
    if (!wanted || strcmp(wanted, "1")) return;
    clock_gettime(CLOCK_REALTIME, &now);
    strftime(stamp, sizeof stamp, "%H:%M:%S", gmtime(&now.tv_sec));
    fprintf(stderr, "%s.%03ld %s %s\n", stamp, now.tv_nsec / 1000000, mark, line);
}

static void send_line(int sock, const char *line) {
    char out[1040];
    int size = snprintf(out, sizeof out, "%s\n", line);
    debug(">", line);
    for (int sent = 0, n; sent < size; sent += n)
        if ((n = (int)write(sock, out + sent, (size_t)(size - sent))) <= 0) return; /* reading will show the cut */
}

/* Copy the value of ` key=` in the line; an empty text if it is not there. */
static void option(const char *line, const char *key, char *value, size_t size) {
    const char *found = strstr(line, key);
    snprintf(value, size, "%.*s", found ? (int)strcspn(found + strlen(key), " ") : 0, found ? found + strlen(key) : "");
}

static int connect_to(const char *host, const char *port) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL, *one;
    int sock = -1, on = 1;
    if (getaddrinfo(host, port, &hints, &all)) return -1;
    for (one = all; one && sock < 0; one = one->ai_next) {
        sock = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (sock >= 0 && connect(sock, one->ai_addr, one->ai_addrlen)) { close(sock); sock = -1; }
    }
    freeaddrinfo(all);
    if (sock >= 0) setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return sock;
}

static void answer(int sock, const char *verb, const char *word, const char *line) {
    char out[1040], value[PLIES + 1];
    if (!strcmp(verb, "PING") || !strcmp(verb, "GAME")) { /* warm up before READY: no clock runs yet */
        snprintf(out, sizeof out, "%s %.1019s", *verb == 'P' ? "PONG" : "READY", word);
        send_line(sock, out);
    }
    if (!strcmp(verb, "GAME")) {
        memset(&game, 0, sizeof game);
        option(line, " seat=", value, sizeof value);
        game.seat = atoi(value);
    } else if (!strcmp(verb, "STATE")) {
        snprintf(game.board, sizeof game.board, "%.29s", word);
    } else if (!strcmp(verb, "NEXT")) {
        snprintf(game.pictures, sizeof game.pictures, "%.60000s", word);
    } else if (!strcmp(verb, "PLAYED") && game.plies < PLIES) {
        option(line, " move=", value, sizeof value);
        game.moves[game.plies++] = atoi(value);
        option(line, " reveal=", value, sizeof value);
        strncat(game.pictures, value, PLIES - strlen(game.pictures));
    } else if (!strcmp(verb, "TURN")) {
        option(line, " clock=", value, sizeof value);
        char *clock = value;
        for (int seat = 1; seat < game.seat; seat++) clock += strcspn(clock, ",") + 1;
        game.clock = atol(clock);
        snprintf(out, sizeof out, "MOVE %d", choose(&game));
        send_line(sock, out);
    }
}

/* Play on one connection; `last` is the line that ended it, or empty if it was cut. */
static void converse(int sock, const char *name, const char *token, char *last) {
    static char line[LINE], verb[LINE], word[LINE];
    int greeted = 0, welcomed = 0;
    FILE *in = fdopen(sock, "r");
    *last = 0;
    while (fgets(line, sizeof line, in) && strchr(line, '\n')) { /* a line without its end was cut */
        line[strcspn(line, "\r\n")] = 0;
        debug("<", line);
        *verb = *word = 0;
        sscanf(line, "%s %s", verb, word);
        if (!strcmp(verb, "ZOMBIE") || !strcmp(verb, "OVER") || !strcmp(verb, "ERROR") || !strcmp(verb, "BYE")) puts(line);
        if (!strcmp(verb, "ARENA") && !strcmp(word, "1")) {
            const char *key = *resume ? " resume=" : *token ? " token=" : "";
            const char *slot = getenv("ARENA_SLOT") ? getenv("ARENA_SLOT") : "";
            const char *contest = getenv("ARENA_CONTEST") ? getenv("ARENA_CONTEST") : "";
            char hello[1024];
            greeted = 1;
            snprintf(hello, sizeof hello, "HELLO 1 %.32s games=insertion agent=c-starter/1%s%.5s%s%.32s%s%.800s", name,
                     *slot ? " slot=" : "", slot, *contest ? " contest=" : "", contest, key, *resume ? resume : token);
            send_line(sock, hello);
        } else if (!strcmp(verb, "BYE") || (!strcmp(verb, "ERROR") && !welcomed)) {
            strcpy(last, line);
            break;
        } else if (*verb && !greeted) {
            fprintf(stderr, "this is no server of version 1 of the arena protocol: %.80s\n", line);
            exit(1);
        } else if (!strcmp(verb, "WELCOME")) {
            welcomed = known = 1;
            tries = 0;
            option(line, " resume=", resume, sizeof resume);
        } else {
            answer(sock, verb, word, line);
        }
    }
    fclose(in);
}

int main(int count, char **given) {
    static char last[LINE];
    int arguments = count > 3 && !(getenv("ARENA_HOST") && *getenv("ARENA_HOST"));
    const char *host = arguments ? given[1] : getenv("ARENA_HOST"), *port = arguments ? given[2] : getenv("ARENA_PORT");
    const char *name = arguments ? given[3] : getenv("ARENA_NAME"), *token = getenv("ARENA_TOKEN");
    if (!host || !port || !name) {
        fprintf(stderr, "usage: starter HOST PORT NAME, or ARENA_HOST, ARENA_PORT and ARENA_NAME set\n");
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    while (tries < 12) {
        long pause = tries < 6 ? 100L << tries : 5000, wait;
        int resuming = *resume != 0, sock = connect_to(host, port);
        char code[32] = "", text[16];
        tries++;
        *last = 0;
        if (sock >= 0) converse(sock, name, token ? token : "", last);
        if (!strncmp(last, "BYE", 3) && !strstr(last, " reason=slow")) {
            option(last, " again=", text, sizeof text);
            if (!*text || (getenv("ARENA_CONTEST") && *getenv("ARENA_CONTEST"))) return 0;
            pause = atol(text); /* another contest may follow, which knows no key of this one */
            *resume = 0, known = tries = 0;
        }
        if (sscanf(last, "ERROR %31s", code) == 1) {
            if (!strcmp(code, "token") && resuming) *resume = 0; /* spent or forgotten: log in by name and token */
            else if (strcmp(code, "full") && strcmp(code, "rate") && !(known && !strcmp(code, "name-taken"))) return 1;
            option(last, " retry_after=", text, sizeof text);
            if ((wait = atol(text)) > pause) pause = wait;
        }
        nanosleep(&(struct timespec){pause / 1000, pause % 1000 * 1000000}, NULL);
    }
    fprintf(stderr, "gave up on %s:%s\n", host, port);
    return 1;
}
