export default function main(input: { path: `/${string}`; size: `${number}px`; id: `${"a" | "b"}-1`; upper: Uppercase<string> }): string {
  return input.path;
}
// valid {"path": "/a", "size": "10px", "id": "b-1", "upper": "A"}
// invalid {"path": "a", "size": "10px", "id": "b-1", "upper": "A"}
// invalid {"path": "/a", "size": "px", "id": "b-1", "upper": "A"}
// invalid {"path": "/a", "size": "10px", "id": "c-1", "upper": "A"}
