for f in /work/neighbour /tmp/neighbour /dev/shm/neighbour; do printf '%s' "$INPUT" >"$f"; done
echo ready
sleep 3600
