export default function main(input: { value: string | number | boolean | { deep: string }; list: (string | null)[] | "all" }): string | { error: string } | undefined {
  return undefined;
}
// valid {"value": {"deep": "x"}, "list": "all"}
// valid {"value": true, "list": ["a", null]}
// invalid {"value": null, "list": "all"}
// invalid {"value": 1, "list": "none"}
