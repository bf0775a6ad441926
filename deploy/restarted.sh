#!/bin/sh
# Runs `arena "$@"` in a container that its engine starts again after every status but 0 (restart: on-failure).
# Status 2 is wrong input, the same at the next start: one line says so, and 0 ends the restarts.
arena "$@" &
trap 'kill -TERM $! 2>/dev/null' TERM INT
# A signal ends `wait` before the program has ended.
while wait $!; status=$?; kill -0 $! 2>/dev/null; do :; done
[ "$status" = 2 ] || exit "$status"
echo "arena: status 2: not started again; mend the input above, then: docker-compose up" >&2
