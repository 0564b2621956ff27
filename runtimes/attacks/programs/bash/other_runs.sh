found=()
for path in "/tmp/$MARK" "/dev/shm/$MARK" "/var/tmp/$MARK" "/usr/$MARK" "/tmp/$MARK.pipe" "/work/$MARK"; do
  if [[ -e $path ]]; then found+=("$path"); fi
done
for path in /proc/[0-9]*; do
  pid=${path##*/}
  if [[ $pid != 1 && $pid != $$ && -r $path/cmdline ]]; then found+=("process $pid"); fi
done
printf '%s\n' "${found[@]}" | jq -Rcn '[inputs | select(. != "")]' >"$OUTPUT"
