type Element<T> = T extends (infer U)[] ? U : never;
type Without<T, K> = { [P in Exclude<keyof T, K>]: T[P] };
const rows = [{ id: 1, name: "a" }];
export default function main(input: { row: Element<typeof rows>; rest: Without<{ a: string; b: number }, "a"> }): ReturnType<typeof helper> {
  return helper();
}
function helper() {
  return { done: true, count: 1 };
}
// valid {"row": {"id": 1, "name": "b"}, "rest": {"b": 1}}
// invalid {"row": {"id": 1}, "rest": {"b": 1}}
// invalid {"row": {"id": 1, "name": "b"}, "rest": {}}
