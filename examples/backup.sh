#!/bin/sh
# An operator's backup: stop the embedded database, copy the home, start again, and verify the copy by itself.
#
#     sh examples/backup.sh my-garden /srv/backups/my-garden-2026-11-18
#
# Stop `garden serve` and other long-running programs first: any command that needs the database would start it
# again, and a copy that was made meanwhile is not whole. The script notices that, and says so. For a home whose
# database is a server of your own, take that server's part with pg_dump instead.
set -eu
[ $# -eq 2 ] || { echo "Usage: sh examples/backup.sh HOME COPY" >&2; exit 2; }
home=$1
copy=$2
running="$home/.garden/postgres/postmaster.pid"

[ ! -e "$copy" ] || { echo "$copy exists already." >&2; exit 1; }

garden --home "$home" database stop
# With owners, modes and access control lists: as root, the database's folder belongs to an account of its own.
cp -a "$home" "$copy"
if [ -e "$running" ]; then
    echo "Somebody started the database while it was copied. Stop what uses it, remove $copy and try again." >&2
    exit 1
fi
garden --home "$home" database start

# A backup that was never opened is a hope. This rebuilds every text in the copy and recomputes every seal.
garden --home "$copy" keys verify
garden --home "$copy" database stop
echo "Backed up and verified: $copy"
