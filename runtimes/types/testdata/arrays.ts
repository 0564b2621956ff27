export default function main(input: { a: string[]; b: readonly number[]; c: Array<{ id: number }>; d: (string | number)[] }): number[][] {
  return [[input.a.length]];
}
// valid {"a": ["x"], "b": [1], "c": [{"id": 1}], "d": ["a", 1]}
// invalid {"a": [1], "b": [1], "c": [], "d": []}
// invalid {"a": [], "b": [], "c": [{}], "d": []}
