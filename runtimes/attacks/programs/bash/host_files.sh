found=()
for path in "$CANARY" "/proc/self/root$CANARY" "/proc/1/root$CANARY" "/usr/..$CANARY" /etc/shadow /etc/machine-id /proc/1/mem /proc/kcore /proc/keys /proc/kallsyms /proc/sys/kernel/core_pattern /dev/vda /dev/mem /dev/kmsg; do
  if head -c1 "$path" >/dev/null 2>&1; then found+=("$path"); fi
done
for path in /root /home /var/lib /run /sys /boot /mnt; do
  if [[ -n $(ls -A "$path" 2>/dev/null) ]]; then found+=("$path"); fi
done
for path in "$CANARY" "$CANARY.new" /x /usr/x /etc/passwd /dev/x /bin/x; do
  if (: >>"$path") 2>/dev/null; then found+=("writes $path"); fi
done
if ln -s "$CANARY" link 2>/dev/null && cat link >/dev/null 2>&1; then found+=(link); fi
printf '%s\n' "${found[@]}" | jq -Rcn '[inputs | select(. != "")]' >"$OUTPUT"
