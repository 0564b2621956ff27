# Bash sources this file before the agent's script. It defines the command "atelier" and records where the script
# failed. The script's lines keep their line numbers. The command works in functions and subshells, but not in another
# bash process. The script may define functions with the names of shell commands, so this file calls each command
# through "builtin". Bash splits the arguments of builtin into words, also after the = of a local. If the script defines
# a function named builtin, this file fails: Bash has no other way to call the original command.
if [[ ! -v __atelier_tag ]]; then
  unset BASH_ENV
  __atelier_holder=/work/.atelier/holder __atelier_tag=0
  builtin printf '%-20s\n' -0 >"$__atelier_holder"
  # Moves the channel's descriptors to other numbers, because the script may use 3, 4 and 5 itself.
  exec {__atelier_host}<&3 {__atelier_pipe}<&4 {__atelier_give}>&5 3>&- 4<&- 5>&-

  # Most scripts make no host calls and succeed. The rest of this file is needed only for a call or a failure, so these
  # two functions read it then. Reading it takes Bash 0.3 ms, a third of its startup time. Reading fails if the script
  # has removed the file.
  atelier() {
    builtin local -
    builtin set +aeuxv
    __atelier_rest && atelier "$@"
  }
  __atelier_left() {
    (($1 != 0)) || builtin return 0
    builtin local -
    builtin set +aeuxv
    __atelier_rest && __atelier_left "$@"
  } 2>/dev/null
  # Reads the rest of this file with aliases switched off, so that the script's aliases do not change it.
  __atelier_rest() {
    if builtin shopt -q expand_aliases; then
      builtin shopt -u expand_aliases
      __atelier_rest
      builtin set -- "$?"
      builtin shopt -s expand_aliases
      builtin return "$1"
    fi
    builtin source /work/.atelier/prelude.sh
  }

  trap '__atelier_failed=$?:$BASH_COMMAND __atelier_failed_line=$LINENO __atelier_failed_file=${BASH_SOURCE[0]-}' ERR
  trap '__atelier_left "$?" "$BASH_COMMAND" "${FUNCNAME[0]-}" "${BASH_LINENO[0]-}" "${BASH_SOURCE[1]-}"' EXIT
  return
fi

# Stores a text as a JSON string in __atelier_quoted.
__atelier_quote() {
  builtin local LC_ALL=C __atelier_text="$1" __atelier_code __atelier_char
  __atelier_text=${__atelier_text//\\/\\\\}
  __atelier_text=${__atelier_text//\"/\\\"}
  if [[ $__atelier_text == *[$'\x01'-$'\x1f']* ]]; then
    for ((__atelier_code = 1; __atelier_code < 32; __atelier_code++)); do
      builtin printf -v __atelier_char '\\x%02x' "$__atelier_code"
      builtin printf -v __atelier_char "$__atelier_char"
      builtin printf -v __atelier_quoted '\\u%04x' "$__atelier_code"
      __atelier_text=${__atelier_text//"$__atelier_char"/"$__atelier_quoted"}
    done
  fi
  __atelier_quoted=\"$__atelier_text\"
}

# Succeeds if a text is a JSON number, true, false or null.
__atelier_plain() {
  builtin local BASH_REMATCH
  [[ $1 =~ ^(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null)$ ]]
}

# Sends one request and reads the reply with the same tag.
__atelier_ask() {
  if [[ ${__atelier_holds-} == "$BASHPID" ]]; then
    builtin echo 'atelier: failed: a trap cannot use atelier during a call of the same shell' >&2
    builtin return 1
  fi
  builtin local __atelier_holds="$BASHPID" __atelier_byte
  __atelier_tag=$((BASHPID << 20 | (__atelier_tag + 1) & 0xfffff))
  IFS= builtin read -r -N 1 -t 0.2 -u "$__atelier_pipe" __atelier_byte && [[ $__atelier_byte == x ]] || { (($? > 128)) && __atelier_wait; } || {
    __atelier_taken
    builtin return 1
  }
  builtin printf '%-20s\n' "$__atelier_tag" 1<>"$__atelier_holder"
  __atelier_quote "$1"
  builtin printf '%s\n' '{"call":'"$__atelier_quoted"',"tag":'"$__atelier_tag"',"args":'"${2//$'\n'/ }"'}' >&"$__atelier_host"
  until [[ ${__atelier_reply-} == *",\"tag\":$__atelier_tag}" ]]; do # skips replies to killed processes
    IFS= builtin read -r __atelier_reply <&"$__atelier_host" || (($? > 128)) || builtin break
  done
  builtin printf '%-20s\n' "-$__atelier_tag" 1<>"$__atelier_holder"
  builtin printf x >&"$__atelier_give"
  [[ ${__atelier_reply-} == *",\"tag\":$__atelier_tag}" ]] || {
    __atelier_taken
    builtin return 1
  }
  __atelier_reply=${__atelier_reply%,*}\}
  case ${__atelier_reply#*,} in # after the id, so not in the host's text
  '"error":'*)
    __atelier_reply=${__atelier_reply#*\"code\":\"}
    __atelier_quoted=${__atelier_reply#*\"message\":\"}
    __atelier_quoted=${__atelier_quoted%%\",\"rule\":*}
    builtin printf 'atelier: %s: %s\n' "${__atelier_reply%%\"*}" "${__atelier_quoted%\"\}\}}" >&2
    builtin return 1
    ;;
  esac
  __atelier_reply=${__atelier_reply#*\"result\":}
  __atelier_reply=${__atelier_reply%\}}
}

__atelier_taken() {
  builtin echo "atelier: failed: the script uses one of the descriptors $__atelier_host to $__atelier_give, which are reserved for host calls" >&2
}

# Waits for the lock of the channel, which all subshells share. The lock is a byte in a pipe. The holder file contains
# the tag of the last owner, with a minus after the owner has returned the lock. If a process is killed while it owns
# the lock, the byte is lost. A waiting process then finds that the last owner is dead and takes the lock over. It also
# takes the lock over if the minus stays for 15 rounds, because then a process was killed before it stored its tag or
# returned the byte.
__atelier_wait() {
  builtin local __atelier_last __atelier_now __atelier_rounds=0
  until IFS= builtin read -r -N 1 -t 0.2 -u "$__atelier_pipe" __atelier_byte; do
    (($? > 128)) || builtin return
    IFS= builtin read -r __atelier_now <"$__atelier_holder" || builtin continue # constant for all, whatever their IFS
    [[ $__atelier_now == "${__atelier_last-}" ]] || __atelier_rounds=0
    __atelier_last=$__atelier_now
    case $__atelier_last in
    -*) ((++__atelier_rounds > 15)) || builtin continue ;;
    *)
      __atelier_dead "$((__atelier_last >> 20))" || builtin continue
      IFS= builtin read -r __atelier_now <"$__atelier_holder"
      [[ $__atelier_now == "$__atelier_last" ]] || builtin continue
      ;;
    esac
    builtin set -C # only one waiting process succeeds
    if builtin : >"$__atelier_holder.$__atelier_last"; then
      builtin printf '\n' >&"$__atelier_host" # ends an incomplete line
      builtin return
    fi
  done
} 2>/dev/null

__atelier_dead() {
  builtin local __atelier_stat
  IFS= builtin read -r __atelier_stat <"/proc/$1/stat" || builtin return 0
  [[ ${__atelier_stat##*) } == [ZX]* ]]
}

__atelier_left() {
  builtin local -
  builtin set +aeux
  (($1 != 0)) || builtin return 0
  builtin local __atelier_line="$4" __atelier_file="$5" __atelier_end
  if [[ ${__atelier_failed-} == "$1:$2" ]]; then
    __atelier_line=$__atelier_failed_line __atelier_file=$__atelier_failed_file
  fi
  __atelier_quote "$2" && __atelier_end=',"command":'$__atelier_quoted
  __atelier_quote "$3" && __atelier_end+=',"function":'$__atelier_quoted
  __atelier_quote "$__atelier_file" && __atelier_end+=',"file":'$__atelier_quoted
  builtin printf '{"end":{"line":%d%s}}\n' "${__atelier_line:-0}" "$__atelier_end" >&"$__atelier_host"
} 2>/dev/null

# Prints the text of a JSON string without its quotes. Bash expands all escapes except those of quotes and slashes,
# which are replaced here. Pairs of backslashes are first replaced by a control character, so that no escape can begin
# in the middle of a pair.
__atelier_unquote() {
  builtin local __atelier_text="$1"
  __atelier_text=${__atelier_text//'\\'/$'\x01'}
  __atelier_text=${__atelier_text//'\"'/'"'}
  __atelier_text=${__atelier_text//'\/'/'/'}
  __atelier_text=${__atelier_text//'\u2028'/$'\xe2\x80\xa8'}
  __atelier_text=${__atelier_text//'\u2029'/$'\xe2\x80\xa9'}
  builtin printf '%b' "${__atelier_text//$'\x01'/'\\'}"
}

# Calls a host function for files whose only argument is a path or a pattern.
__atelier_file() {
  builtin local __atelier_first __atelier_offset=0
  __atelier_quote "${2-.}" && __atelier_first=$__atelier_quoted
  case $1 in
  read)
    while :; do
      __atelier_ask readFile '{"path":'"$__atelier_first"',"offset":'"$__atelier_offset"'}' || builtin return
      __atelier_offset=${__atelier_reply##*\"next\":}
      __atelier_offset=${__atelier_offset%\}}
      __atelier_reply=${__atelier_reply#\{\"content\":\"}
      __atelier_unquote "${__atelier_reply%\",\"next\":*}"
      [[ $__atelier_offset != 0 ]] || builtin return 0
    done
    ;;
  exists)
    __atelier_ask fileExists '{"path":'"$__atelier_first"'}' && [[ $__atelier_reply == true ]]
    ;;
  delete) __atelier_ask deleteFile '{"path":'"$__atelier_first"'}' ;;
  list) __atelier_ask listDir '{"path":'"$__atelier_first"'}' && builtin printf '%s\n' "$__atelier_reply" ;;
  find) __atelier_ask searchFiles '{"pattern":'"$__atelier_first"'}' && builtin printf '%s\n' "$__atelier_reply" ;;
  grep)
    __atelier_quote "${3-.}"
    __atelier_ask searchContent '{"pattern":'"$__atelier_first"',"path":'"$__atelier_quoted"'}' && builtin printf '%s\n' "$__atelier_reply"
    ;;
  esac
}

# Writes the text of stdin to a file, in pieces that each fit into one host call.
__atelier_write() {
  builtin local LC_ALL=C.UTF-8 __atelier_piece __atelier_path __atelier_offset=0 __atelier_more=true __atelier_size
  __atelier_quote "$1" && __atelier_path=$__atelier_quoted
  while [[ $__atelier_more == true ]]; do
    __atelier_piece=
    IFS= builtin read -r -d '' -N 32768 __atelier_piece || __atelier_more=false
    builtin local LC_ALL=C
    __atelier_size=${#__atelier_piece}
    LC_ALL=C.UTF-8
    __atelier_quote "$__atelier_piece"
    __atelier_ask writeFile '{"path":'"$__atelier_path"',"content":'"$__atelier_quoted"',"offset":'"$__atelier_offset"',"more":'"$__atelier_more"'}' || builtin return
    ((__atelier_offset += __atelier_size)) || builtin :
  done
}

# This definition is the last one in the file. A trap may call atelier while Bash still reads the file; it then uses the
# loader above, and otherwise this complete version.
atelier() {
  builtin local - __atelier_args __atelier_reply
  builtin set +aeux
  case ${1-} in
  log)
    builtin shift
    (($# > 1)) || builtin set -- info "$@"
    __atelier_quote "${1-}" && __atelier_args='{"level":'$__atelier_quoted
    __atelier_quote "${2-}" && __atelier_args+=',"message":'$__atelier_quoted
    builtin shift 2
    builtin local __atelier_separator=',"fields":{' __atelier_field
    for __atelier_field; do
      if [[ $__atelier_field != ?*=* || $__atelier_field == [\{[\"]* ]]; then
        builtin echo "atelier: log: a field must have the form KEY=VALUE: $__atelier_field" >&2
        builtin return 2
      fi
      __atelier_quote "${__atelier_field%%=*}"
      __atelier_args+=$__atelier_separator$__atelier_quoted:
      __atelier_field=${__atelier_field#*=}
      if __atelier_plain "$__atelier_field"; then __atelier_quoted=$__atelier_field; else __atelier_quote "$__atelier_field"; fi
      __atelier_args+=$__atelier_quoted
      __atelier_separator=,
    done
    (($# == 0)) || __atelier_args+='}'
    __atelier_ask log "$__atelier_args}"
    ;;
  progress)
    builtin local __atelier_total="${3:-0}"
    if ! __atelier_plain "${2-}" || ! __atelier_plain "$__atelier_total"; then
      builtin echo 'atelier: usage: atelier progress DONE [TOTAL [MESSAGE]], with numbers' >&2
      builtin return 2
    fi
    __atelier_quote "${4-}"
    __atelier_ask progress '{"done":'"$2"',"total":'"$__atelier_total"',"message":'"$__atelier_quoted"'}'
    ;;
  call)
    __atelier_ask "${2-}" "${3:-{\}}" || builtin return
    builtin printf '%s\n' "$__atelier_reply"
    ;;
  ask)
    __atelier_quote "${2-}" && __atelier_args='{"prompt":'$__atelier_quoted
    __atelier_quote "${3-}" && __atelier_args+=',"context":'$__atelier_quoted
    __atelier_ask askLLM "$__atelier_args}" || builtin return
    __atelier_reply=${__atelier_reply#\"}
    __atelier_unquote "${__atelier_reply%\"}" && builtin echo
    ;;
  read | exists | delete | list | find | grep)
    __atelier_file "$@"
    ;;
  write)
    __atelier_write "${2-}"
    ;;
  submit)
    __atelier_quote "${2-}" && __atelier_args='{"summary":'$__atelier_quoted',"changedFiles":['
    builtin local __atelier_name __atelier_separator=
    for __atelier_name in "${@:3}"; do
      __atelier_quote "$__atelier_name" && __atelier_args+=$__atelier_separator$__atelier_quoted
      __atelier_separator=,
    done
    __atelier_ask submitResult "$__atelier_args]}"
    ;;
  *)
    builtin echo 'atelier: usage: atelier log [LEVEL] MESSAGE [KEY=VALUE…] | progress DONE [TOTAL [MESSAGE]] | call NAME [JSON] | ask PROMPT [CONTEXT] | read|write|exists|delete PATH | list [PATH] | find PATTERN | grep PATTERN [PATH] | submit SUMMARY [PATH…]' >&2
    builtin return 2
    ;;
  esac
}
