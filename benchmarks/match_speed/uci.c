/* A UCI engine that answers each `go` at once: kings walk in rings, and the pawn moves on before fifty moves are over. */
#include <stdio.h>
#include <string.h>

static const char *const WHITE[] = {"a1b1", "b1b2", "b2a2", "a2a1"};
static const char *const PAWN[] = {"e2e3", "e3e4", "e4e5"};
static const char *const BLACK[] = {"a8b8", "b8c8", "c8d8", "d8e8", "e8f8", "f8g8", "g8h8", "h8h7",
                                    "h7g7", "g7f7", "f7e7", "e7d7", "d7c7", "c7b7", "b7a7", "a7a8"};

static const char *move_at(int plies) {
    int move = plies / 2;
    if (plies % 2) return BLACK[move % 16];
    return move % 30 == 29 ? PAWN[move / 30] : WHITE[(move - move / 30) % 4];
}

int main(void) {
    static char line[1 << 16];
    setvbuf(stdout, NULL, _IOLBF, 1024);
    int plies = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "ucinewgame", 10)) plies = 0;
        else if (!strncmp(line, "uci", 3)) puts("id name trivial\nuciok");
        else if (!strncmp(line, "isready", 7)) puts("readyok");
        else if (!strncmp(line, "position", 8)) {
            plies = 0;
            const char *moves = strstr(line, " moves ");
            if (moves) for (moves += 6; *moves; moves++) plies += *moves == ' ';
        } else if (!strncmp(line, "go", 2)) printf("bestmove %s\n", move_at(plies));
        else if (!strncmp(line, "quit", 4)) return 0;
    }
    return 0;
}
