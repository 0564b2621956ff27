#!/usr/bin/env bash
# Tests the API of bin/atelier against its OpenAPI document. It uses schemathesis with all checks. Usage: run.sh [long].
# The short form takes less than two minutes on two CPU cores. The long form takes up to FUZZTIME (default: 10m). The
# exit code is 77 if schemathesis is not installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=4.32.5
venv="${XDG_CACHE_HOME:-$HOME/.cache}/atelier/schemathesis-$version"
if [ ! -x "$venv/bin/schemathesis" ]; then
  rm -rf "$venv"
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"; } >&2; then
    rm -rf "$venv"
    echo "schemathesis $version cannot be installed on this machine." >&2
    exit 77
  fi
fi

work=$(mktemp -d)
finish() {
  [ -z "${server:-}" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# Choose a free address. The token is used only for this server.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
token=$(python3 -c 'import secrets; print(secrets.token_urlsafe(32))')
url=http://127.0.0.1:$port
env -i PATH="$PATH" HOME="$work" ATELIER_TOKEN="$token" bin/atelier serve --listen "127.0.0.1:$port" --data "$work/data" >"$work/log" 2>&1 &
server=$!
python3 - "$url" "$token" <<'PY' || { tail -n 20 "$work/log" >&2; exit 1; }
# Waits for the server, and creates the objects that the examples in the OpenAPI document use.
import json, sys, time, urllib.error, urllib.request

url, token = sys.argv[1:]
for _ in range(300):
    try:
        urllib.request.urlopen(url + "/ready")
        break
    except (urllib.error.URLError, ConnectionError):
        time.sleep(0.1)


def send(method, path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Authorization": "Bearer " + token, "Content-Type": "application/json"}, method=method)
    urllib.request.urlopen(request)


agent = {"language": "python", "code": "def main(city):\n    return {'city': city}\n", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
send("POST", "/api/v1/code-agents", {"name": "weather", "tests": [{"name": "Oslo", "input": {"city": "Oslo"}, "expect": {"schema": True}}], **agent})
for changelog in ("First.", "Second."):
    send("POST", "/api/v1/code-agents/weather/versions", {"changelog": changelog})
    agent["code"] += "#\n"
    request = urllib.request.Request(url + "/api/v1/code-agents/weather", json.dumps({"code": agent["code"]}).encode(), {"Authorization": "Bearer " + token, "Content-Type": "application/json", "If-Match": "*"}, method="PUT")
    urllib.request.urlopen(request)
send("POST", "/api/v1/code-agents/weather/publish", {"public": True})
send("POST", "/skills/register", {"name": "greet", "version": "1.0.0", "description": "Greets somebody.", "handler_path": "greet.main", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}, "code": "def main(name=''):\n    return {'text': name}\n"})
PY

seconds() { case $1 in *m) echo $((${1%m} * 60)) ;; *) echo "${1%s}" ;; esac }
options=(--phases examples,coverage,fuzzing --max-examples 3 --seed 1)
if [ "${1:-}" = long ]; then
  options=(--max-examples 1000 --max-time "$(seconds "${FUZZTIME:-10m}")")
fi
report=$work/report
status=0
here=$PWD/scripts/schemathesis
cd "$work" # it keeps a cache in the working directory
PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 SCHEMATHESIS_HOOKS=hooks \
  "$venv/bin/schemathesis" --config-file "$here/schemathesis.toml" run "$url/openapi.json" -H "Authorization: Bearer $token" \
  --checks all --no-color --generation-database none "${options[@]}" >"$report" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
  cat "$report"
else
  sed -n '/= SUMMARY =/,$p' "$report"
fi
if ! curl --silent --fail --output /dev/null "$url/health"; then
  echo "The server did not survive:" && tail -n 50 "$work/log"
  exit 1
fi
exit "$status"
