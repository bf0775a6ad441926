#!/bin/sh
# What the image `database` runs: PostgreSQL for the processes that mount its socket.
# There is no TCP, and no password: the account of a client is its role (peer): `arena` writes, `site` may read.
set -eu

# Two servers on one volume would not see each other, because each container has process ids of its own.
exec 9>/data/lock
flock --nonblock 9 || {
    echo "another container has this database open" >&2
    exit 1
}

# The folder gets its name when it is complete, so that a start that was killed is repeated.
if [ ! -d /data/cluster ]; then
    rm -rf /data/new
    initdb --pgdata=/data/new --username=arena --auth=peer --encoding=UTF8 --locale=C.UTF-8 --data-checksums >/dev/null
    echo "CREATE DATABASE arena" | postgres --single -D /data/new postgres >/dev/null
    sync
    mv /data/new /data/cluster
fi

# The sites' role, also in the volume of an earlier version. This server ends a command at the end of a line.
postgres --single -D /data/cluster arena >/dev/null <<'SQL'
DO $$ BEGIN CREATE ROLE site LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$
GRANT pg_read_all_data TO site
SQL

# Without jit a server process does not load 100 MB of LLVM.
exec postgres -D /data/cluster -c listen_addresses= -c unix_socket_directories=/run/arena -c jit=off "$@"
