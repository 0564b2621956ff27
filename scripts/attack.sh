#!/usr/bin/env bash
# Runs the tests that attack the server. It prints a table with the target of each attack, whether the attack was
# refused or limited, and the evidence. ITEMS=5,7 runs only these items. SHORT=1 runs one quick attack of each item.
# HOSTILE=1 also runs the hostile programs of runtimes/hostile. The last rows test that two workspaces of a server are
# isolated: as root, and as an ordinary user with landlock and cgroups disabled.
#
# After that, scripts/attack/clients.py attacks a whole server. It uses only interfaces that earlier versions have too.
# AT=COMMIT runs only these attacks, on a build of that commit. c960d492 is the commit before the fixes, where the
# attacks succeed. The messages of item 11 are an exception, because item 11 adds tests and fixes no vulnerability.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d /tmp/atelier-attack.XXXXXX)
clear() {
  if [ -d "$work/tree" ]; then git worktree remove --force "$work/tree"; fi
  rm -rf "$work"
}
trap clear EXIT
if [ -n "${AT:-}" ]; then
  git worktree add --quiet --detach "$work/tree" "$AT"
  (cd "$work/tree" && CGO_ENABLED=0 go build -trimpath -o "$work/atelier" .)
  printf '%-5s %-64s %-18s %s\n' item "attack on $AT" result evidence
  python3 scripts/attack/clients.py "$work/atelier" "${ITEMS:-}" || true
  exit
fi

# Each line is ITEM|ATTACK|PACKAGE|TESTS. SHORT=1 runs only the items with +.
attacks=(
  "1+|a version that shares a V8 process with other callers|./studio/specs|TestCompleteNamesTheField"
  "2|44 programs of one launcher with unfinished results of 15 MiB|./runtimes/sandbox|TestHostileUnfinishedResults"
  "2|60 jobs of 12 MiB at once, and more programs than fit|./runtimes/sandbox|TestHostileJobs|TestLauncherIsFull"
  "2+|launchers that die before their programs start|./runtimes/worker|TestLauncherDiesBeforeStart|TestLauncherOfAWorkspace|TestNetworkOfAnotherWorker"
  "3|200 clients with hostile bodies of 7.7 MiB; killed at 1 GiB|./server/servertest|TestHostileBodies"
  "3+|bodies of a million values, memory that is taken|./server/gate|TestBody_(ManyValues|BeyondBudget)"
  "3+|connections that wait for a request, without end|./server/app|TestIdleConns"
  "3+|clients that do not read: the kernel's buffer|./server/framing|TestWatch"
  "3|sessions of MCP without end|./server/servertest|TestMCP_ManySessions"
  "4+|ports and lists of sockets, between programs of one launcher|./runtimes/sandbox|TestHostilePorts"
  "4+|maps of the user namespace, written as a message|./runtimes/sandbox|TestHostileMaps"
  "4+|datagram socket pairs that are bound to an abstract name|./runtimes/sandbox/seccomp|TestProgram"
  "4+|locks of files of the host|./runtimes/sandbox|TestHostileLocks"
  "5+|integers of thousands of digits in a body|./server/gate|TestBody_LongNumber"
  "5|an integer of three million digits in a program's input|./runtimes/python|TestHugeInteger"
  "6+|settings and sources in /usr|./runtimes/sandbox|TestHostileUsr"
  "6+|files that only the owner may read|./runtimes/sandbox|TestHostilePrivateFiles"
  "7+|guessed passwords and tokens from a shared address|./server/gate|TestAttempts|TestGuessedBearers|TestTrustedProxies"
  "7|guesses against a whole server, over a restart|./server/servertest|TestPastedToken|TestGuessedPasswords"
  "8+|metadata services and the server's own listener|./runtimes/egress|TestNever|TestPublicCeiling|TestTrickyForms"
  "8|a program that reaches for the host's loopback|./server/servertest|TestPrivateAddresses|TestOwnListener|TestOwnAddress"
  "9+|socket pairs of many processes, without control groups|./runtimes/sandbox|TestHostileMemory"
  "10+|host calls without end that are refused|./runtimes/worker|TestCallsAreBounded|TestCallRateLimit"
  "10+|native code that maps memory up to the address of the first execve|./runtimes/sandbox|TestHostileExecute"
  "10+|a guessed secret confirmed by inputsHash|./studio/runs|TestInputsHash"
  "10+|TRACE on every path, cookies of another site of the domain|./server/gate|TestTrace|TestCookieName"
  "11+|messages of programs, as fuzzed earlier|./runtimes/worker|Fuzz"
  "11+|lines and reports of a guest script, as fuzzed earlier|./runtimes/sandbox/program|Fuzz"
  "11|messages of clients of skills, as fuzzed earlier|./server/skillsapi|Fuzz"
)
if [ -n "${HOSTILE:-}" ]; then
  attacks+=("all|the hostile programs, in every runtime|./runtimes/hostile|.")
fi

failed=0
wanted() { [ -z "${ITEMS:-}" ] || [[ ",$ITEMS," == *",$1,"* ]]; }
row() { printf '%-5s %-64s %-18s %s\n' "$@"; }

row item attack result evidence
for attack in "${attacks[@]}"; do
  IFS='|' read -r item what package tests <<<"$attack"
  if [ -n "${SHORT:-}" ] && [[ $item != *+ ]]; then continue; fi
  item=${item%+}
  wanted "$item" || continue
  result=refused/bounded
  said=$(go test -trimpath -count=1 -v "$package" -run "$tests" 2>&1) || result=SUCCEEDED
  passed=$(grep -c '^--- PASS' <<<"$said" || true)
  figures=$(grep -aoE "the (server's peak went from|launcher used) .*" <<<"$said" | head -1 || true)
  [ "$passed" -gt 0 ] || result=SUCCEEDED # a row without a test proves nothing
  row "$item" "$what" "$result" "$passed tests passed${figures:+; $figures}"
  if [ "$result" = SUCCEEDED ]; then
    failed=$((failed + 1))
    grep -aE '^ *(--- FAIL|[a-z_]+_test\.go:)|^FAIL|error' <<<"$said" | head -10
  fi
done

# Test that two workspaces of a whole server are isolated, on each kind of host.
CGO_ENABLED=0 go build -trimpath -o "$work/atelier" .
chmod 0755 "$work" "$work/atelier"
python3 scripts/attack/clients.py "$work/atelier" "${ITEMS:-}" || failed=$((failed + 1))
tenants() { # USER MASK
  local as=() result=refused said fix passed
  if [ "$1" != "$(id -un)" ]; then as=(setpriv --reuid "$1" --regid "$(id -g "$1")" --clear-groups); fi
  said=$("${as[@]}" env -i PATH=/usr/bin:/bin HOME="$work" TMPDIR=/tmp "$work/atelier" doctor --data "$work/data" --only canaries ${2:+--mask-sandbox="$2"} 2>&1) || true
  passed=$(grep -acE '^ *PASS .*(between workspaces|settings in /usr)' <<<"$said" || true)
  fix=$(grep -aE '^ *(FAIL|REDUCED) .*(between workspaces|settings in /usr)' <<<"$said" || true)
  if [ -n "$fix" ] || [ "$passed" -lt 8 ]; then result=SUCCEEDED failed=$((failed + 1)); fi
  row 4,6 "two workspaces meet, and read /usr; user $1${2:+, without $2}" "$result" "$passed checks passed; isolation $(grep -aoE 'Isolation of runs: [a-z]+(\([a-z, ]*\))?' <<<"$said" | cut -d' ' -f4- || true)"
  if [ "$result" = SUCCEEDED ]; then echo "${fix:-$(tail -3 <<<"$said")}"; fi
}
if wanted 4 || wanted 6; then
  users=("$(id -un)")
  if [ "$(id -u)" = 0 ]; then users+=(nobody); fi
  for user in "${users[@]}"; do
    for mask in "" landlock cgroups; do
      if [ -n "${SHORT:-}" ] && [ "$mask" = cgroups ]; then continue; fi
      tenants "$user" "$mask"
    done
  done
fi
[ "$failed" -eq 0 ]
