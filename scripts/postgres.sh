#!/usr/bin/env bash
# A private PostgreSQL for the tests, on its own unix socket.
#   postgres.sh where       prints the directory of its programs, or nothing
#   postgres.sh start DIR   creates a cluster in DIR, starts it and prints its URL
#   postgres.sh stop DIR
set -eu

where() {
  local dir
  for dir in $(command -v initdb pg_ctl 2>/dev/null | xargs -r -n 1 dirname) $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV); do
    [ -x "$dir/initdb" ] && [ -x "$dir/pg_ctl" ] && [ -x "$dir/postgres" ] && echo "$dir" && return
  done
  return 0
}

# PostgreSQL refuses to run as root.
as_user() {
  if [ "$(id -u)" != 0 ]; then
    "$@"
  elif getent passwd postgres >/dev/null; then
    runuser -u postgres -- "$@"
  else
    runuser -u nobody -- "$@"
  fi
}

case ${1:-} in
  where) where ;;
  start)
    bin=$(where)
    mkdir -p "$2"
    chmod 0711 "$2"
    owner=$(as_user id -u)
    [ "$(id -u)" != 0 ] || chown "$owner" "$2"
    cd /
    as_user "$bin/initdb" --pgdata="$2/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >"$2/initdb.log" 2>&1 ||
      { cat "$2/initdb.log" >&2; exit 1; }
    # No sync is needed: the cluster is temporary, and the tests of durability kill our server, not PostgreSQL.
    as_user "$bin/pg_ctl" --pgdata="$2/data" --log="$2/data/server.log" --wait --silent \
      --options="-c listen_addresses='' -c unix_socket_directories='$2' -c fsync=off -c max_connections=200 -c timezone='Canada/Newfoundland'" start >&2 ||
      { cat "$2/data/server.log" >&2; exit 1; }
    echo "postgres://postgres@/postgres?host=$2"
    ;;
  stop)
    cd /
    as_user "$(where)/pg_ctl" --pgdata="$2/data" --mode=immediate --silent stop >&2 || true
    ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
