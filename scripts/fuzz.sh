#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (default: a minute), one after the other. Go stores a failing input in
# testdata/fuzz of the package, where it becomes a test case. Minimizing an input may take a second. Go's default of a
# minute would use up the whole time of a target.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0 targets=0
while IFS=: read -r file target; do
  package=./$(dirname "$file")
  printf '\n== %s %s\n' "$package" "$target"
  targets=$((targets + 1))
  go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-1m}" -fuzzminimizetime 1s || failed=$((failed + 1))
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs grep -o '^func Fuzz[A-Za-z0-9_]*' | sed 's/:func /:/')
printf '\n== schemathesis\n'
scripts/schemathesis/run.sh long && schemathesis=0 || schemathesis=$?
case $schemathesis in
  0) ;;
  77) echo "SKIPPED schemathesis" ;;
  *) failed=$((failed + 1)) ;;
esac
printf '\n%d fuzz targets, %d failed\n' "$targets" "$failed"
[ "$targets" -gt 0 ] && [ "$failed" -eq 0 ]
