printf "\"%02000000d\"" 0 >"$OUTPUT"
