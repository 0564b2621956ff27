#!/usr/bin/env bash
# Prints the path of a Chromium, or nothing.
for name in "${ATELIER_TEST_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
  [ -n "$name" ] && command -v "$name" && exit 0
done
exit 0
