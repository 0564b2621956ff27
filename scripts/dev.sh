#!/usr/bin/env bash
# Starts bin/atelier, and a development server of the Studio that forwards requests to it and reloads changed code.
# Usage: dev.sh ADDRESS
set -euo pipefail
bin/atelier serve --listen "$1" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"' EXIT
npm run dev
