for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done
kill -9 -1
kill -9 $$
