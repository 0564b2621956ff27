export function main(input) {
  return { ok: true, list: [1, "a"] };
}
// valid {}
// valid {"a": [1]}
