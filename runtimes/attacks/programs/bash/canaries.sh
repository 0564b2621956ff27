value() { [[ $INPUT =~ \"$1\":\"?([^\",}]+) ]] && printf '%s' "${BASH_REMATCH[1]}"; }
attempt() {
  local canary=$1 way=$2 got
  shift 2
  got=$("$@" 2>/dev/null) # with or without success: any output is a leak
  if [[ -n $got ]]; then printf '%s\t%s\treached\t%.200s\n' "$canary" "$way" "$got"; else printf '%s\t%s\trefused\n' "$canary" "$way"; fi
}
port() { (exec 9<>"/dev/$1/$2/$3" && echo x >&9) && echo connected; }
file=$(value file)
for prefix in '' /proc/1/root /proc/self/root /proc/1/cwd/../../../.. ../../../../../../.. /usr/../../.. /dev/fd/../../../..; do
  attempt file "${prefix:-its path}" cat "$prefix$file"
done
ln -s "$file" /tmp/link && attempt file 'a link' cat /tmp/link
attempt file 'its folder' ls -A "${file%/*}"
[[ $INPUT =~ \"usr\":\[([^]]*)\] ]] && for path in $(tr -d '"' <<<"${BASH_REMATCH[1]//,/ }"); do
  attempt 'settings in /usr' "$path" sh -c 'ls -A "$1"/ || cat "$1"' - "$path"
done
attempt network 'tcp 127.0.0.1' port tcp 127.0.0.1 "$(value tcp)"
attempt network 'tcp localhost' port tcp localhost "$(value tcp)"
attempt network 'udp 127.0.0.1' port udp 127.0.0.1 "$(value udp)"
attempt network dns getent hosts example.com
printf 'environment\tits own\trefused\t%s\n' "$(env | tr '\n' ' ')"
attempt environment 'of its parent' cat "/proc/$PPID/environ"
attempt 'other run' files cat /work/neighbour /tmp/neighbour /dev/shm/neighbour
for p in /proc/[0-9]*; do
  [[ ${p##*/} == "$$" ]] || attempt 'other run' "files of ${p##*/}" cat "$p/cwd/neighbour" "$p/root/work/neighbour" "$p/root/tmp/neighbour"
done
