export default function main(input: { pair: [string, number]; maybe: [string, number?]; rest: [string, ...number[]]; none: [] }): [number, string] {
  return [1, "a"];
}
// valid {"pair": ["a", 1], "maybe": ["a"], "rest": ["a", 1, 2], "none": []}
// invalid {"pair": ["a"], "maybe": ["a"], "rest": ["a"], "none": []}
// invalid {"pair": ["a", 1], "maybe": [], "rest": ["a"], "none": []}
// invalid {"pair": ["a", 1], "maybe": ["a"], "rest": ["a", "b"], "none": []}
// invalid {"pair": ["a", 1], "maybe": ["a"], "rest": ["a"], "none": [1]}
