#!/usr/bin/env bash
# Runs every test: Go with the race detector on both databases, the Studio's units and types, and the browser tests over
# the real binary. The last line is the sum of what passed, failed and was skipped. With CI=true a skip is a failure.
set -uo pipefail
cd "$(dirname "$0")/.."

# One function, so that bash has read all of it before it starts: an edit during a run must not change that run.
main() {
  work=$(mktemp -d /tmp/atelier-test.XXXXXX)
  chmod 0711 "$work" # PostgreSQL runs as another user when we are root
  report=$work/report
  counts=$work/counts
  finish() {
    jobs -rp | xargs -r kill # of one that was interrupted
    [ ! -d "$work/pg/data" ] || scripts/postgres.sh stop "$work/pg"
    rm -rf "$work"
  }
  trap finish EXIT
  trap 'exit 130' INT TERM

  skip() { echo "SKIPPED $1: $2"; "$report" skip "$counts" "$1" "$2"; }
  title() { printf '\n== %s\n' "$*"; }

  # What goes wrong outside of a test is in vitest's own lines and its end, not in its report.
  vitest() { # NAME OPTIONS
    local run=(npx --no-install vitest run "${@:2}")
    "${run[@]}" --reporter=default --reporter=json --outputFile.json="$work/$1.json" </dev/null
    "$report" vitest "$1" "$work/$1.json" $? "$counts" "${run[@]}"
  }

  # Counting statements under the race detector is slow where loops are tight: each count is an atomic of which the detector
  # keeps a history. The evaluator of schemas took two hundred times as long, the mask of secrets thirteen times, and of three
  # counts of a whole run two were in canonical JSON. What their own tests run is counted in a pass of its own.
  tight=(github.com/atelier-run/atelier/registry/schema github.com/atelier-run/atelier/registry/compat
    github.com/atelier-run/atelier/internal/jcs github.com/atelier-run/atelier/internal/redact)

  beside() {
    go test -v -coverprofile="$work/tight.out" "${tight[@]}" >"$work/tight.log" 2>&1 || { cat "$work/tight.log"; "$report" fail "$counts" "coverage of ${tight[*]}"; }
    title "JSON Schema Test Suite"
    awk '/^ *(---|===)/ { on = 0 } /JSON Schema Test Suite/ { on = 1 } on' "$work/tight.log"
    title "semver.org"
    go test -v -run '^TestSemverOrg' ./registry/advice 2>&1 | grep -e 'semver.org' -e '^ *left out'

    title "Studio"
    if [ ! -d node_modules ]; then
      skip studio "Node 20 is not on this machine"
    else
      for part in web web/e2e; do
        npx --no-install tsc -p "$part" || "$report" fail "$counts" "types of $part"
      done
      vitest studio --root web
    fi

    title "Vendors"
    if [ ! -d node_modules ]; then
      skip vendors "Node 20 is not on this machine"
    else
      vitest vendors --config web/e2e/vendors.config.ts
    fi
  }

  title "What the tests need"
  scripts/need.sh postgresql chromium-headless-shell jq python3 gcc libc6-dev
  go build -o "$report" ./scripts/report || exit 1
  if [ -n "$(scripts/postgres.sh where)" ] && url=$(scripts/postgres.sh start "$work/pg"); then
    export ATELIER_TEST_PG_URL=$url
    echo "PostgreSQL: $("$(scripts/postgres.sh where)/postgres" --version)"
  fi

  # What needs no browser goes on beside Go, whose tests wait for processes a third of their time.
  beside >"$work/beside.log" 2>&1 </dev/null &

  title "Go"
  race=-race
  if ! command -v gcc >/dev/null; then
    race=
    skip race "the race detector needs gcc"
  fi
  export ATELIER_TEST_JAIL_PROFILE=$work/jail.out # what ran in jails and as another user, where -cover does not see it
  rooms=$(go list ./... | grep -v -e '/scripts/' | grep -vxF "$(printf '%s\n' "${tight[@]}")" | paste -sd,)
  # The room that takes longest begins first: at the end it would be alone with two processors. One room more than there are
  # processors, for the same reason.
  # The detector sees Go's memory only, and SQLite, C made Go, keeps what it has outside of it: watched at every step it found
  # nothing and took three times as long. What calls it is watched as everything else is.
  unwatched='-gcflags=modernc.org/sqlite/lib=-race=false -d=checkptr=0'
  go test $race "$unwatched" -p $(($(nproc) + 1)) -shuffle=on -timeout 20m -json -coverpkg="$rooms" -coverprofile="$work/cover.out" ./server/servertest ./... </dev/null 2>&1 | "$report" go "$counts" go test -count=1 $race "$unwatched" -timeout 20m

  wait
  cat "$work/beside.log"

  title "Statement coverage"
  for more in "$work"/jail.out "$work"/jail.out.ordinary "$work"/tight.out; do
    [ ! -f "$more" ] || cat "$more" >>"$work/cover.out"
  done
  "$report" coverage "$work/cover.out" 2>"$work/thin" || "$report" fail "$counts" "coverage: $(cat "$work/thin")"

  title "Browser"
  if [ ! -f web/dist/app/index.html ]; then
    skip browser "the Studio is not built, for want of Node"
  elif chromium=$(scripts/chromium.sh shell) && [ -z "$chromium" ]; then
    skip browser "Chromium is not on this machine"
  else
    export ATELIER_TEST_CHROMIUM=$chromium
    ATELIER_TEST_TALLY=$work/tally vitest browser --config web/e2e/vitest.config.ts
    title "Statements of the Studio"
    "$report" statements "$work/browser.json" "$work/tally" || "$report" fail "$counts" "statements of the Studio"
  fi

  if [ "${CI:-}" = true ]; then
    title "Failed tests once more, alone"
    "$report" rerun "$counts" </dev/null
  fi

  title "Result"
  "$report" total "$counts"
}

main
exit $?
