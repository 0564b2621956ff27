set -o pipefail
tail /dev/zero | cat
