#!/usr/bin/env bash
# Prints the path of a Chromium, or nothing. "chromium.sh shell" prefers the one without windows, which opens pages a fifth
# faster; what is measured or shown to people is the one that people have.
names=(chromium chromium-browser google-chrome google-chrome-stable)
if [ "${1:-}" = shell ]; then
  names=(chromium-headless-shell "${names[@]}")
else
  names+=(chromium-headless-shell)
fi
for name in "${ATELIER_TEST_CHROMIUM:-}" "${names[@]}"; do
  [ -n "$name" ] && command -v "$name" && exit 0
done
exit 0
