secret=$SECRET_A$SECRET_B
found=()
for name in $(compgen -e); do
  if [[ ${!name} == *"$secret"* || $name == ATELIER_* ]]; then found+=("$name"); fi
done
for path in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/self/environ; do
  if tr '\0' '\n' <"$path" 2>/dev/null | grep -q -e "$secret" -e ^ATELIER_; then found+=("$path"); fi
done 2>/dev/null
printf '%s\n' "${found[@]}" | jq -Rcn '[inputs | select(. != "")]' >"$OUTPUT"
