[[ $INPUT =~ \"name\":\"([A-Za-z]+)\" ]]
echo "hello ${BASH_REMATCH[1]}"
printf '{"greeting":"Hello, %s"}' "${BASH_REMATCH[1]}" >"$OUTPUT"
