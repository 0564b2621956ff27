# Runs one agent's script on a machine without the server. The folder of this file contains the script, its input and its
# job. $OUTPUT is the result file. Calls of host functions are marked lines of stdout.
here=${BASH_SOURCE[0]%/*}
values=()
{
  IFS= read -r -d '' entry
  IFS= read -r -d '' out
  IFS= read -r -d '' mark
  while IFS= read -r -d '' one; do values+=("$one"); done
} <"$here/job"
out=${out:-$here/out}
mkdir -p "$out" "$HOME" && cd "$here/program" && chmod -R u+x . || exit
printf '\0%s{"call":"start"}\n' "$mark" # the time of the script counts from here
exec env -i PATH="$PATH" HOME="$HOME" LANG="$LANG" TMPDIR="$TMPDIR" "${values[@]}" \
  INPUT_FILE="$here/input.json" OUTPUT="$out/result.json" BASH_ENV="$here/prelude.sh" \
  bash --noprofile --norc -- "$entry" <"$here/input.json"
