found=()
if unshare -Ur true 2>/dev/null; then found+=(unshare); fi
if unshare -n true 2>/dev/null; then found+=("unshare -n"); fi
if mount -t tmpfs x /tmp 2>/dev/null; then found+=(mount); fi
if mknod /tmp/null c 1 3 2>/dev/null; then found+=(mknod); fi
if chroot / true 2>/dev/null; then found+=(chroot); fi
if su -c true </dev/null 2>/dev/null; then found+=(su); fi
if dmesg >/dev/null 2>&1; then found+=(dmesg); fi
if nice -n -5 true 2>&1 | grep -q . ; then :; else found+=(nice); fi
if (echo 1 >/proc/sys/kernel/core_pattern) 2>/dev/null; then found+=(core_pattern); fi
if (echo b >/proc/sysrq-trigger) 2>/dev/null; then found+=(sysrq); fi
if [[ $(id -u) == 0 ]]; then found+=(root); fi
if ulimit -n 100000 2>/dev/null; then found+=(ulimit); fi
for path in /sys/fs/cgroup /sys/kernel /proc/sys /proc/bus /proc/scsi; do
  if [[ -e $path ]]; then found+=("$path"); fi
done
printf '%s\n' "${found[@]}" | jq -Rcn '[inputs | select(. != "")]' >"$OUTPUT"
