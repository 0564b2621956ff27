interface Base { id: number; kind: string }
interface Child extends Base { kind: "child"; size: number }
class Box implements Base { id = 1; kind = "box"; constructor(public width: number) {} get area() { return this.width; } grow() { this.width++; } }
export default function main(input: Child): Box {
  return new Box(input.size);
}
// valid {"id": 1, "kind": "child", "size": 2}
// invalid {"id": 1, "kind": "other", "size": 2}
// invalid {"kind": "child", "size": 2}
