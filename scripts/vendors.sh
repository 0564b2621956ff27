#!/usr/bin/env bash
# Prints the path of a Python interpreter that has the vendors' packages for the tested recipes, and the tools that
# check clients/python. If it is missing, the script installs it into the user's cache.
set -euo pipefail
packages=(openai==3.57.0 anthropic==2.13.0 google-genai==3.6.1 langchain-core==1.8.3 mcp==2.3.0
  langgraph==1.2.24 openai-agents==0.24.0 mypy==2.4.1 ruff==0.17.6)
builders=(setuptools==80.9.0) # pip needs them to install clients/python, also without a network
venv="${XDG_CACHE_HOME:-$HOME/.cache}/atelier/vendors-$(printf '%s\n' "${packages[@]}" "${builders[@]}" | sha256sum | cut -c1-12)"
if [ ! -e "$venv/complete" ]; then
  rm -rf "$venv"
  {
    python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" &&
      "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$venv/wheels" "${builders[@]}"
  } >&2
  touch "$venv/complete"
fi
echo "$venv/bin/python"
