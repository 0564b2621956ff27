# Keeps the log lines at or above a level. Pure Bash: with jq on the host, reading the input would be one line.
declare -A rank=([DEBUG]=0 [INFO]=1 [WARN]=2 [ERROR]=3)
declare -A colour=([DEBUG]=90 [INFO]=37 [WARN]=33 [ERROR]=31)

input=$(<"$INPUT_FILE")
text='"(([^"\\]|\\.)*)"' # a JSON string, still escaped

level=$DEFAULT_LEVEL
if [[ $input =~ \"level\"[[:space:]]*:[[:space:]]*$text ]]; then
  level=${BASH_REMATCH[1]}
fi

rest=${input#*\"lines\"*[}
kept=() dropped=0
while [[ $rest =~ ^[[:space:],]*$text ]]; do
  rest=${rest:${#BASH_REMATCH[0]}}
  line=${BASH_REMATCH[1]}
  if [[ $line =~ (DEBUG|INFO|WARN|ERROR) ]] && ((rank[${BASH_REMATCH[1]}] >= rank[$level])); then
    kept+=("\"$line\"")
    printf '\e[%sm%b\e[0m\n' "${colour[${BASH_REMATCH[1]}]}" "${line//\\\"/\"}"
  else
    dropped=$((dropped + 1))
  fi
done

# The lines are still escaped as they came, so they can be put into the answer as they are.
IFS=,
printf '{"level":"%s","kept":%d,"dropped":%d,"lines":[%s]}\n' "$level" "${#kept[@]}" "$dropped" "${kept[*]}" >"$OUTPUT"
