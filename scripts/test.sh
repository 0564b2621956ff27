#!/usr/bin/env bash
# Runs every test: Go on both databases, the Studio's unit tests and type checks, and the browser tests on the real
# binary. Go tests run with the race detector, except for whole-server tests. The last line counts passed, failed and
# skipped tests. With CI=true a skipped test counts as a failure. With RACE=1 the whole-server tests run with the race
# detector too. With COVER=1 only the Go tests run, without the race detector, and the statement coverage is printed.
set -uo pipefail
cd "$(dirname "$0")/.."

# main is a function, so that bash reads the whole script before it starts. So an edit during a run does not change the
# run.
main() {
  work=$(mktemp -d /tmp/atelier-test.XXXXXX)
  chmod 0711 "$work" # PostgreSQL runs as another user when we are root
  report=$work/report
  counts=$work/counts
  finish() {
    jobs -rp | xargs -r kill # of one that was interrupted
    [ ! -d "$work/pg/data" ] || scripts/postgres.sh stop "$work/pg"
    scripts/kafka.sh stop "$work/kafka"
    scripts/s3.sh stop "$work/s3"
    rm -rf "$work"
  }
  trap finish EXIT
  trap 'exit 130' INT TERM

  skip() { echo "SKIPPED $1: $2"; "$report" skip "$counts" "$1" "$2"; }
  title() { printf '\n== %s\n' "$*"; }

  # vitest's report does not contain errors outside of a test. Its output and exit code do.
  vitest() { # NAME OPTIONS
    local run=(npx --no-install vitest run "${@:2}")
    "${run[@]}" --reporter=default --reporter=json --outputFile.json="$work/$1.json" </dev/null
    "$report" vitest "$1" "$work/$1.json" $? "$counts" "${run[@]}"
  }

  unit_tests() {
    title "JSON Schema Test Suite"
    go test -trimpath -v ./registry/schema 2>&1 | awk '/^ *(---|===)/ { on = 0 } /JSON Schema Test Suite/ { on = 1 } /^--- FAIL/ { print } on'
    title "semver.org"
    go test -trimpath -v -run '^TestSemverOrg' ./registry/advice 2>&1 | grep -e 'semver.org' -e '^ *left out'

    title "JavaScript in goja and in node"
    go test -trimpath -v -run '^TestDifferential$' ./runtimes/goja/guest 2>&1 | grep -e 'expressions: ' -e '^--- FAIL'

    title "Labelled programs of the gate"
    go test -trimpath -v -run '^TestLabelledPrograms$' ./studio/policy 2>&1 | grep -e 'labelled programs:' -e '^--- FAIL'

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

  # The race detector sees only Go's memory. SQLite, which is C code translated to Go, allocates other memory.
  # Instrumenting SQLite found nothing and took three times as long. The code that calls SQLite is instrumented. Other
  # packages cannot be left out: without instrumentation their atomic operations order nothing, so the detector reports
  # races that do not exist.
  uninstrumented='-gcflags=modernc.org/sqlite/lib=-race=false -d=checkptr=0'

  # With -trimpath a checkout in another directory uses what an earlier one compiled.
  go_tests() { # PACKAGES OPTIONS
    # shellcheck disable=SC2086 # PACKAGES is a list
    go test -trimpath "${@:2}" -timeout 60m -shuffle=on -json $1 </dev/null 2>&1 | "$report" go "$counts" go test -trimpath -count=1 "${@:2}" -timeout 60m
  }

  # Statements are counted separately from the race detector. Together they take twice as long, because each count is an
  # atomic operation that the detector tracks.
  cover() {
    export ATELIER_TEST_JAIL_PROFILE=$work/jail.out # statements that ran in jails and as another user, where -cover does not see them
    packages=$(go list ./... | grep -v -e '/scripts/' | paste -sd,)
    go_tests "./server/servertest ./..." -coverpkg="$packages" -coverprofile="$work/cover.out"
    title "Statement coverage"
    for more in "$work"/jail.out "$work"/jail.out.ordinary; do
      [ ! -f "$more" ] || cat "$more" >>"$work/cover.out"
    done
    "$report" coverage "$work/cover.out" 2>"$work/thin" || "$report" fail "$counts" "coverage: $(cat "$work/thin")"
  }

  title "What the tests need"
  scripts/need.sh postgresql chromium-headless-shell jq python3 python3-venv gcc libc6-dev default-jre-headless maven zsh fish groff qemu-system-arm cpio
  go build -o "$report" ./scripts/report || exit 1
  scripts/uv.sh >/dev/null || skip uv "uv, the resolver of Python packages, cannot be installed on this machine"
  if folder=$(scripts/packages.sh); then
    export ATELIER_TEST_PACKAGES=$folder
  else
    skip packages "wheels and npm tarballs for the tests cannot be downloaded on this machine"
  fi
  scripts/opa.sh build >/dev/null || skip opa "Open Policy Agent cannot be built on this machine"
  # Without a real node the tests use a service that speaks its protocol, so this is no skip.
  ATELIER_TEST_BACALHAU=$(scripts/bacalhau.sh build) || echo "NOTE: the module of Bacalhau cannot be built on this machine."
  export ATELIER_TEST_BACALHAU
  echo "Bacalhau: ${ATELIER_TEST_BACALHAU:-the test service}"
  if file=$(scripts/python-wasm.sh); then
    export ATELIER_TEST_PYTHON_WASM=$file
  else
    skip python-wasm "a Python interpreter for WebAssembly cannot be downloaded on this machine"
  fi
  # The tests that run once more need these variables too. A variable that unit_tests sets would end with its subshell.
  if [ -d node_modules ] && [ -z "${COVER:-}" ]; then
    if python=$(scripts/vendors.sh); then
      export ATELIER_TEST_VENDORS_PYTHON=$python
    else
      skip vendors "the vendors' Python packages cannot be installed on this machine"
    fi
    if folder=$(scripts/clients.sh); then
      export ATELIER_TEST_CLIENTS=$folder
    else
      skip clients "LangGraph, the MCP conformance suite and Node 24 cannot be installed on this machine"
    fi
  fi
  scripts/monty.sh >/dev/null || skip monty "the Monty interpreter could not be installed from the Python index"
  if [ -n "$(scripts/postgres.sh where)" ] && url=$(scripts/postgres.sh start "$work/pg"); then
    export ATELIER_TEST_PG_URL=$url
    echo "PostgreSQL: $("$(scripts/postgres.sh where)/postgres" --version)"
  fi

  if [ -z "$(scripts/kafka.sh where)" ]; then
    skip kafka "Java, Maven or the libraries of Kafka are not on this machine"
  elif brokers=$(scripts/kafka.sh start "$work/kafka"); then
    export ATELIER_TEST_KAFKA=$brokers
    echo "Kafka: $brokers"
  fi

  if [ -z "$(scripts/s3.sh where)" ]; then
    skip s3 "Java, Maven or the libraries of S3Proxy are not on this machine"
  elif endpoint=$(scripts/s3.sh start "$work/s3"); then
    export ATELIER_TEST_S3="$endpoint $work/s3"
    echo "S3: $endpoint"
  fi

  title "Go"
  if [ -n "${COVER:-}" ]; then
    cover
    title "Result"
    "$report" total "$counts"
    return
  fi

  race=(-race "$uninstrumented")
  if ! command -v gcc >/dev/null; then
    race=()
    skip race "the race detector needs gcc"
  fi
  whole=()
  [ -z "${RACE:-}" ] || whole=("${race[@]}")

  # Unit tests and whole-server tests run in parallel with the other Go tests, because all of them wait for processes a
  # third of their time. The whole-server tests take longest, so they start first.
  go_tests ./server/servertest "${whole[@]}" >"$work/servertest.log" 2>&1 &
  unit_tests >"$work/unit-tests.log" 2>&1 </dev/null &
  go_tests "$(go list ./... | grep -v '/servertest$')" "${race[@]}"

  wait
  cat "$work/servertest.log" "$work/unit-tests.log"

  title "Machine code for arm64, emulated"
  scripts/arm64.sh >"$work/arm64" 2>&1 && arm64=0 || arm64=$?
  grep -a -e '^ *--- ' -e '^ok' -e FAIL -e not "$work/arm64"
  case $arm64 in
    0) ;;
    77) skip arm64 "the emulator or Debian's packages for arm64 are not on this machine" ;;
    *) "$report" fail "$counts" arm64 scripts/arm64.sh ;;
  esac

  title "Schemathesis"
  scripts/schemathesis/run.sh >"$work/schemathesis" 2>&1 && schemathesis=0 || schemathesis=$?
  cat "$work/schemathesis"
  case $schemathesis in
    0) ;;
    77) skip schemathesis "it cannot be installed on this machine" ;;
    *) "$report" fail "$counts" schemathesis bash scripts/schemathesis/run.sh ;;
  esac

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
