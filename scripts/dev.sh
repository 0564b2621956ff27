#!/usr/bin/env bash
# Serves bin/atelier and, in front of it, the Studio with hot reload: dev.sh ADDRESS
set -euo pipefail
bin/atelier serve --listen "$1" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"' EXIT
npm run dev
