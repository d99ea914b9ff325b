#!/bin/sh
# An operator's backup: stop the embedded database, copy the home, start it again, and verify the copy.
#
#     sh examples/backup.sh my-garden /srv/backups/my-garden-2026-11-18
#
# Stop `garden serve` and other long-running programs first: any command that needs the database would start it
# again, and a copy made meanwhile is incomplete. The script detects that and fails. For a home whose database is
# your own server, use pg_dump for the database instead.
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
    echo "The database was started during the copy. Stop the programs that use it, remove $copy and try again." >&2
    exit 1
fi
garden --home "$home" database start

# An untested backup proves nothing: this rebuilds every text in the copy and recomputes every seal.
garden --home "$copy" keys verify
garden --home "$copy" database stop
echo "Backed up and verified: $copy"
