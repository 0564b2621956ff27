value() { [[ $INPUT =~ \"$1\":\"?([^\",}]+) ]] && printf '%s' "${BASH_REMATCH[1]}"; }
granted=$(value granted) other=$(value other)
# Uses the proxy from the shell alone, because curl may be missing.
ask() {
  local line
  exec 9<>/dev/tcp/127.0.0.1/3128 || return
  printf 'GET http://%s/ HTTP/1.0\r\nHost: x\r\n\r\n' "$1" >&9
  while IFS= read -r line <&9 || [[ -n $line ]]; do
    [[ $line == doctor* ]] && printf '%s' "$line"
    [[ -n $line ]] || break
  done
  exec 9>&-
}
direct() { (exec 9<>"/dev/tcp/${1%:*}/${1##*:}" && printf 'GET / HTTP/1.0\r\n\r\n' >&9) 2>/dev/null; }
printf 'granted\t%s\n' "$(ask "$granted" 2>/dev/null)"
if [[ -n $(ask "$other" 2>/dev/null) ]]; then printf 'beyond\tproxy\n'; fi
if direct "$other"; then printf 'beyond\tsocket\n'; fi
if direct "$granted"; then printf 'beyond\tsocket to what is granted\n'; fi
if getent hosts example.com >/dev/null; then printf 'beyond\tname\n'; fi
