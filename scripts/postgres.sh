#!/usr/bin/env bash
# Manages a private PostgreSQL server for the tests, with a Unix socket in its directory.
#   postgres.sh where       prints the directory of PostgreSQL's programs, or nothing if there is none
#   postgres.sh start DIR   creates a cluster in DIR, starts it and prints its URL
#   postgres.sh standby DIR FROM
#                           copies the running cluster in FROM to DIR, and starts the copy as its standby
#   postgres.sh promote DIR promotes the standby in DIR
#   postgres.sh stop DIR    stops the server in DIR
set -eu

where() {
  local dir
  for dir in $(command -v initdb pg_ctl 2>/dev/null | xargs -r -n 1 readlink -f | xargs -r -n 1 dirname) $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
    [ -x "$dir/initdb" ] && [ -x "$dir/pg_ctl" ] && [ -x "$dir/postgres" ] && echo "$dir" && return
  done
  return 0
}

# PostgreSQL refuses to run as root, so this uses another user.
as_user() {
  if [ "$(id -u)" != 0 ]; then
    "$@"
  elif getent passwd postgres >/dev/null; then
    runuser -u postgres -- "$@"
  else
    runuser -u nobody -- "$@"
  fi
}

# Without FSYNC=on PostgreSQL syncs nothing. The clusters are temporary, and the tests of durability kill only the
# Atelier server, not the machine.
start_in() {
  cd /
  as_user "$bin/pg_ctl" --pgdata="$1/data" --log="$1/data/server.log" --wait --silent \
    --options="-c listen_addresses='' -c unix_socket_directories='$1' -c fsync=${FSYNC:-off} -c max_connections=200 -c timezone='Canada/Newfoundland'" start >&2 ||
    { cat "$1/data/server.log" >&2; exit 1; }
}

own() {
  mkdir -p "$1"
  chmod 0711 "$1"
  owner=$(as_user id -u)
  [ "$(id -u)" != 0 ] || chown "$owner" "$1"
}

case ${1:-} in
  where) where ;;
  start)
    bin=$(where)
    own "$2"
    cd /
    as_user "$bin/initdb" --pgdata="$2/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >"$2/initdb.log" 2>&1 ||
      { cat "$2/initdb.log" >&2; exit 1; }
    start_in "$2"
    echo "postgres://postgres@/postgres?host=$2"
    ;;
  standby)
    bin=$(where)
    own "$2"
    cd /
    as_user "$bin/pg_basebackup" --pgdata="$2/data" --host="$3" --username=postgres --write-recovery-conf --checkpoint=fast --no-sync >&2
    start_in "$2"
    ;;
  promote)
    cd /
    as_user "$(where)/pg_ctl" --pgdata="$2/data" --wait --silent promote >&2
    ;;
  stop)
    cd /
    as_user "$(where)/pg_ctl" --pgdata="$2/data" --mode=immediate --silent stop >&2 || true
    ;;
  *)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
