marked=''
for f in /work/doctor-mark /tmp/doctor-mark /dev/shm/doctor-mark; do
  [[ -e $f ]] && marked+="${marked:+,}\"$f\""
  : >"$f"
done
[[ -n ${DOCTOR_MARK:-} ]] && marked+="${marked:+,}\"variable\""
export DOCTOR_MARK=1
if [[ $INPUT =~ \"nap\":\"([0-9.]+)\" ]]; then
  (setsid sleep "${BASH_REMATCH[1]}" >/dev/null 2>&1 &)
  nohup sleep "${BASH_REMATCH[1]}" >/dev/null 2>&1 &
  echo ready
  [[ $INPUT =~ \"seconds\":([0-9.]+) ]] && sleep "${BASH_REMATCH[1]}"
fi
printf '[%s]' "$marked" >"$OUTPUT"
