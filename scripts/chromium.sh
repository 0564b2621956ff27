#!/usr/bin/env bash
# Prints the path of a Chromium browser, or nothing if there is none. "chromium.sh shell" prefers the headless shell,
# which opens pages a fifth faster. Measurements and screenshots use the ordinary browser.
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
