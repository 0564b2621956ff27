#!/usr/bin/env bash
# Usage: scripts/monty.sh   Installs the Monty interpreter as bin/monty, for tests and experiments, and prints its path.
set -euo pipefail
cd "$(dirname "$0")/.."
version=1.4.0
if [ ! -x bin/monty ] || [ "$(cat bin/monty.version 2>/dev/null || true)" != "$version" ]; then
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  python=python3
  if ! python3 -m pip --version >/dev/null 2>&1; then
    python3 -m venv "$dir/venv"
    python="$dir/venv/bin/python"
  fi
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$dir" "pydantic-monty-runtime==$version"
  mkdir -p bin
  python3 - "$dir" bin/monty <<'PY'
import glob, os, shutil, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.whl")[0])
name = next(n for n in wheel.namelist() if n.endswith("/scripts/monty"))
with wheel.open(name) as source, open(sys.argv[2] + ".new", "wb") as target:
    shutil.copyfileobj(source, target)
os.chmod(sys.argv[2] + ".new", 0o755)
os.replace(sys.argv[2] + ".new", sys.argv[2])
PY
  echo "$version" >bin/monty.version
fi
echo "$PWD/bin/monty"
