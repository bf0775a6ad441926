/* A bot of the arena protocol that answers each TURN at once, and does nothing else. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int sock;
static void say(const char *text) { if (write(sock, text, strlen(text)) < 0) exit(1); }

static int answer(const char *line) {
    char out[512];
    if (!strncmp(line, "TURN", 4)) say("MOVE 4\n");
    else if (!strncmp(line, "PING ", 5)) { snprintf(out, sizeof out, "PONG %s\n", line + 5); say(out); }
    else if (!strncmp(line, "GAME ", 5)) { snprintf(out, sizeof out, "READY %.*s\n", (int)strcspn(line + 5, " "), line + 5); say(out); }
    else if (!strncmp(line, "ARENA ", 6)) {
        const char *slot = getenv("ARENA_SLOT");
        snprintf(out, sizeof out, "HELLO 1 %s games=insertion%s%s token=%s\n", getenv("ARENA_NAME"),
                 slot && *slot ? " slot=" : "", slot ? slot : "", getenv("ARENA_TOKEN"));
        say(out);
    } else if (!strncmp(line, "BYE", 3)) return 1;
    return 0;
}

int main(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("ARENA_PORT")))};
    inet_pton(AF_INET, getenv("ARENA_HOST"), &to.sin_addr);
    sock = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;
    if (connect(sock, (struct sockaddr *)&to, sizeof to)) return 1;
    setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    static char data[1 << 16];
    size_t kept = 0;
    for (ssize_t size; (size = read(sock, data + kept, sizeof data - kept - 1)) > 0;) {
        char *line = data, *end = data + kept + size;
        for (char *stop; (stop = memchr(line, '\n', end - line)); line = stop + 1) {
            *stop = 0;
            if (answer(line)) return 0;
        }
        kept = end - line;
        memmove(data, line, kept);
    }
    return 1;
}
