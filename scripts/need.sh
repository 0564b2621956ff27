#!/usr/bin/env bash
# Installs packages that the tests need. Usage: need.sh PACKAGE… As root on a machine with apt, it installs missing
# packages. On other machines it only lists them, and the tests that need them report that they were skipped.
set -u

missing=()
for package in "$@"; do
  case $package in
    postgresql) present=$(scripts/postgres.sh where) ;;
    chromium-headless-shell) present=$(scripts/chromium.sh shell) ;;
    default-jre-headless) present=$(command -v java) ;;
    qemu-system-arm) present=$(command -v qemu-system-aarch64) ;;
    maven) present=$(command -v mvn) ;;
    libc6-dev) present=$(ls /usr/include/stdlib.h 2>/dev/null) ;;
    python3-venv) present=$(python3 -c 'import ensurepip, venv; print(venv.__file__)' 2>/dev/null) ;;
    *) present=$(command -v "$package") ;;
  esac
  [ -n "$present" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "Not on this machine: ${missing[*]}. Tests that need it are skipped." >&2
  exit 0
fi
echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { apt-get update && apt-get install --yes --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "Could not install ${missing[*]}. Tests that need it are skipped." >&2
fi
rm -f "$log"
