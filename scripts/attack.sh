#!/usr/bin/env bash
# Runs the attacks on the server that stand as tests, and prints a table: what is attacked, whether the attack was refused
# or bounded, and the evidence. ITEMS=5,7 runs those items alone; HOSTILE=1 adds the hostile programs of runtimes/hostile.
set -euo pipefail
cd "$(dirname "$0")/.."

attacks=(
  "2|44 programs of one launcher with unfinished results of 15 MiB|./runtimes/sandbox|TestHostileUnfinishedResults"
  "2|60 jobs of 12 MiB at once, and more programs than fit|./runtimes/sandbox|TestHostileJobs|TestLauncherIsFull"
  "2|launchers that die before their programs start|./runtimes/worker|TestLauncherDiesBeforeStart|TestLauncherOfAWorkspace|TestNetworkOfAnotherWorker"
  "3|200 clients with hostile bodies of 7.7 MiB; killed at 1 GiB|./server/servertest|TestHostileBodies"
  "3|bodies of a million values, memory that is taken|./server/gate|TestBody_(ManyValues|BeyondBudget)"
  "4|ports and lists of sockets, between programs of one launcher|./runtimes/sandbox|TestHostilePorts"
  "4|maps of the user namespace, written as a message|./runtimes/sandbox|TestHostileMaps"
  "4|datagram socket pairs that are bound to an abstract name|./runtimes/sandbox/seccomp|TestProgram"
  "4|locks of files of the host|./runtimes/sandbox|TestHostileLocks"
  "5|integers of thousands of digits in a body|./server/gate|TestBody_LongNumber"
  "5|an integer of three million digits in a program's input|./runtimes/python|TestHugeInteger"
  "6|settings and sources in /usr|./runtimes/sandbox|TestHostileUsr"
  "6|files that only the owner may read|./runtimes/sandbox|TestHostilePrivateFiles"
  "7|guessed passwords and tokens from a shared address|./server/gate|TestAttempts|TestGuessedBearers|TestTrustedProxies"
  "7|guesses against a whole server, over a restart|./server/servertest|TestPastedToken|TestGuessedPasswords"
  "8|metadata services and the server's own listener|./runtimes/egress|TestNever|TestPublicCeiling|TestTrickyForms"
  "8|a program that reaches for the host's loopback|./server/servertest|TestPrivateAddresses|TestOwnListener|TestOwnAddress"
  "9|socket pairs of many processes, without control groups|./runtimes/sandbox|TestHostileMemory"
  "10|host calls without end that are refused|./runtimes/worker|TestCallsAreBounded|TestCallRateLimit"
  "10|native code that maps memory up to the address of the first execve|./runtimes/sandbox|TestHostileExecute"
  "10|a guessed secret confirmed by inputsHash|./studio/runs|TestInputsHash"
  "10|TRACE on every path|./server/gate|TestTrace"
)
if [ -n "${HOSTILE:-}" ]; then
  attacks+=("all|the hostile programs, in every runtime|./runtimes/hostile|.")
fi

failed=0
printf '%-5s %-64s %-18s %s\n' item attack result evidence
for attack in "${attacks[@]}"; do
  IFS='|' read -r item what room tests <<<"$attack"
  if [ -n "${ITEMS:-}" ] && [[ ",$ITEMS," != *",$item,"* ]]; then continue; fi
  result=refused/bounded
  said=$(go test -count=1 -v "$room" -run "$tests" 2>&1) || { result=SUCCEEDED failed=$((failed + 1)); }
  passed=$(grep -c '^--- PASS' <<<"$said" || true)
  figures=$(grep -aoE "the (server's peak went from|launcher used) .*" <<<"$said" | head -1 || true)
  [ "$passed" -gt 0 ] || { result=SUCCEEDED failed=$((failed + 1)); } # a row without a test proves nothing
  printf '%-5s %-64s %-18s %s\n' "$item" "$what" "$result" "$passed tests passed${figures:+; $figures}"
  if [ "$result" = SUCCEEDED ]; then grep -aE '^ *(--- FAIL|[a-z_]+_test\.go:)|^FAIL|error' <<<"$said" | head -10; fi
done
[ "$failed" -eq 0 ]
