export default function main() {
  return 1 as const;
}
// valid {}
// valid {"a": 1}
