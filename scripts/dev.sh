#!/usr/bin/env bash
# Starts bin/atelier, and a development server of the Studio with hot reload in front of it: dev.sh ADDRESS
set -euo pipefail
bin/atelier serve --listen "$1" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"' EXIT
npm run dev
