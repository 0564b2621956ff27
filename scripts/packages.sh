#!/usr/bin/env bash
# Prints the path of a folder with real packages: wheels for this machine's Python, and npm tarballs. Tests and
# benchmarks use this folder for a package index. If packages are missing, the script downloads them into the user's
# cache.
set -euo pipefail
wheels=(requests==2.32.5 urllib3==2.5.0 idna==3.11 certifi==2025.10.5 charset-normalizer==3.4.4
  numpy==2.3.4
  pydantic==2.12.4 pydantic-core==2.41.5 annotated-types==0.7.0 typing-extensions==4.15.0 typing-inspection==0.4.2
  pydantic==1.10.24)
tarballs=(lodash@4.17.21 zod@4.1.12)
python=/usr/bin/python3
[ -x "$python" ] || python=python3
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
folder="${XDG_CACHE_HOME:-$HOME/.cache}/atelier/packages-$(printf '%s\n' "$version" "${wheels[@]}" "${tarballs[@]}" | sha256sum | cut -c1-12)"
if [ ! -e "$folder/complete" ]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  pip=python3
  if ! python3 -m pip --version >/dev/null 2>&1; then
    python3 -m venv "$work/venv" >&2
    pip="$work/venv/bin/python"
  fi
  for wheel in "${wheels[@]}"; do # one by one, because two majors of Pydantic contradict each other
    "$pip" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version "$version" --dest "$folder" "$wheel" >&2
  done
  for tarball in "${tarballs[@]}"; do
    npm pack --silent --pack-destination "$folder" "$tarball" >&2
  done
  touch "$folder/complete"
fi
echo "$folder"
