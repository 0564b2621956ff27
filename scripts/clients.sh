#!/usr/bin/env bash
# Prints the path of a folder with the tool clients that the tests use: LangGraph, MCP adapters, the MCP inspector and
# the MCP conformance suite. If the folder is missing, the script installs it into the user's cache. The clients need
# Node 24, which the script installs as FOLDER/node.
set -euo pipefail
cd "$(dirname "$0")/clients"
folder="${XDG_CACHE_HOME:-$HOME/.cache}/atelier/clients-$(sha256sum package-lock.json | cut -c1-12)"
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  cp package.json package-lock.json "$folder"
  # The adapters require a newer LangGraph as a peer dependency. For this version of LangChain, that LangGraph does not
  # exist.
  (cd "$folder" && npm ci --ignore-scripts --legacy-peer-deps --no-audit --no-fund --loglevel=error) >&2
  ln -sf "$(echo "$folder"/node_modules/node-linux-*/bin/node)" "$folder/node"
  "$folder/node" --version >&2
  touch "$folder/complete"
fi
echo "$folder"
