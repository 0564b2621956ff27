#!/usr/bin/env bash
# Looks up the known vulnerabilities of every dependency: of Go code that is called (govulncheck), and of npm packages.
# If the lists of vulnerabilities cannot be downloaded, it prints that nothing was checked. It fails only if there is a
# vulnerability.
set -uo pipefail
cd "$(dirname "$0")/.."

GOVULNCHECK=golang.org/x/vuln/cmd/govulncheck@v1.9.0
failed=0

row() { printf '%-12s %-14s %s\n' "$1" "$2" "$3"; }
reason() { grep -avE '^(go: downloading|npm error A complete log|npm warn|$)' <<<"$1" | head -1 | cut -c1-140; }

# govulncheck exits with 3 if the code calls vulnerable code. Another exit code means that the check was not possible.
said=$(go run "$GOVULNCHECK" ./... 2>&1)
code=$?
if [ $code -eq 0 ]; then
  row govulncheck clean "$(tail -1 <<<"$said")"
elif grep -q '^Vulnerability #' <<<"$said"; then
  row govulncheck VULNERABLE "$(grep -a '^Vulnerability #' <<<"$said" | paste -sd' ')"
  failed=1
else
  row govulncheck "NOT CHECKED" "$(reason "$said")"
fi

# npm audit exits with 1 for a vulnerability and also if the check was not possible. Only a real report contains a
# version.
if ! command -v npm >/dev/null; then
  row "npm audit" "NOT CHECKED" "npm is not on this machine"
else
  said=$(npm audit --json 2>&1)
  code=$?
  if ! grep -q '"auditReportVersion"' <<<"$said"; then
    row "npm audit" "NOT CHECKED" "$(npm audit 2>&1 | grep -aE '^npm (warn audit|error)' | head -1 | cut -c1-140)"
  elif [ $code -eq 0 ]; then
    row "npm audit" clean "no known vulnerability in package-lock.json"
  else
    row "npm audit" VULNERABLE "npm audit names the packages"
    failed=1
  fi
fi
exit $failed
