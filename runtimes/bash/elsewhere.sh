# Bash sources this file and then prelude.sh before the agent's script, on a machine without the server. A host call is
# a marked line of stdout. It has no reply, because the channel is one-way.
if [[ ! -v __atelier_tag ]]; then
  unset BASH_ENV
  __atelier_tag=0
  exec {__atelier_host}>&1 # the script may redirect its own stdout

  # When prelude.sh is sourced again to load its second part, it does not replace the functions and traps below.
  source "${BASH_SOURCE[0]}"
  __atelier_ask() {
    case $1 in
    log | progress)
      builtin printf '\0%s{"call":"%s","args":%s}\n' "$__atelier_mark" "$1" "${2//$'\n'/ }" >&"$__atelier_host"
      ;;
    *)
      builtin echo "atelier: denied: The host function $1 is not available in this runtime." >&2
      builtin return 1
      ;;
    esac
  }
  __atelier_gone() {
    (($1 != 0)) || builtin return 0
    builtin printf '\0%s' "$__atelier_mark" >&"$__atelier_host"
    __atelier_left "$@"
  } 2>/dev/null

  trap '__atelier_failed=$?:$BASH_COMMAND __atelier_failed_line=$LINENO __atelier_failed_file=${BASH_SOURCE[0]-}' ERR
  trap '__atelier_gone "$?" "$BASH_COMMAND" "${FUNCNAME[0]-}" "${BASH_LINENO[0]-}" "${BASH_SOURCE[1]-}"' EXIT
  return
fi

