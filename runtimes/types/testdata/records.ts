export default function main(input: { scores: Record<string, number>; sides: Record<"left" | "right", string>; byId: { [id: number]: string }; open: { [key: string]: unknown } }): Record<string, number[]> {
  return {};
}
// valid {"scores": {"a": 1}, "sides": {"left": "l", "right": "r"}, "byId": {"1": "a"}, "open": {"x": []}}
// invalid {"scores": {"a": "1"}, "sides": {"left": "l", "right": "r"}, "byId": {}, "open": {}}
// invalid {"scores": {}, "sides": {"left": "l"}, "byId": {}, "open": {}}
// invalid {"scores": {}, "sides": {"left": "l", "right": "r"}, "byId": {"1": 1}, "open": {}}
