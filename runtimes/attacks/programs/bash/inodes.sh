set -e
i=0
while :; do : >"/tmp/$((i++))"; done
