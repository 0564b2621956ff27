type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
export default function main(input: Shape): { area: number } {
  return { area: input.kind === "circle" ? input.radius : input.side };
}
// valid {"kind": "circle", "radius": 1}
// valid {"kind": "square", "side": 1}
// invalid {"kind": "circle", "side": 1}
// invalid {"kind": "line"}
