#!/usr/bin/env bash
# Prints the path of uv, the resolver of Python packages. If uv is missing, the script installs it into the user's
# cache.
set -euo pipefail
version=0.13.9
for path in /usr/bin/uv /usr/local/bin/uv; do
  [ -x "$path" ] && echo "$path" && exit 0
done
dir="${XDG_CACHE_HOME:-$HOME/.cache}/atelier/uv-$version"
if [ ! -x "$dir/uv" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python=python3
  if ! python3 -m pip --version >/dev/null 2>&1; then
    python3 -m venv "$work/venv" >&2
    python="$work/venv/bin/python"
  fi
  "$python" -m pip download --quiet --no-deps --only-binary :all: --dest "$work" "uv==$version" >&2
  mkdir -p "$dir"
  python3 -c 'import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name = next(name for name in wheel.namelist() if name.endswith("/scripts/uv"))
open(sys.argv[2], "wb").write(wheel.read(name))' "$work"/uv-*.whl "$dir/uv.new"
  chmod 755 "$dir/uv.new"
  mv "$dir/uv.new" "$dir/uv"
fi
echo "$dir/uv"
