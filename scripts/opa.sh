#!/usr/bin/env bash
# Prints the path of an Open Policy Agent, or nothing if there is none. "opa.sh build" first builds it into the user's
# cache.
set -eu
version=v1.22.2
cached=${XDG_CACHE_HOME:-$HOME/.cache}/atelier/opa-$version
if [ "${1:-}" = build ] && [ ! -x "$cached" ]; then
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  (cd "$dir" && GOFLAGS=-mod=mod GOBIN=$dir go install "github.com/open-policy-agent/opa@$version")
  mkdir -p "$(dirname "$cached")"
  mv "$dir/opa" "$cached"
fi
for name in "${ATELIER_TEST_OPA:-}" opa "$cached"; do
  [ -n "$name" ] && command -v "$name" && exit 0
done
exit 0
