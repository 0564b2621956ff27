function main(input: { a: number }): number {
  return input.a;
}
// valid {"a": 1}
// invalid {"a": "1"}
