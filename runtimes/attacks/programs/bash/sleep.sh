trap '' TERM INT HUP
sleep 600
