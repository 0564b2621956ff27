interface Page<T> {
  items: T[];
  next?: Page<T>;
}
type Maybe<T> = T | null;
export default function main(input: { users: Page<{ id: number }>; names: Page<string>; maybe: Maybe<number> }): Maybe<Page<string>> {
  return null;
}
// valid {"users": {"items": [{"id": 1}]}, "names": {"items": ["a"], "next": {"items": []}}, "maybe": null}
// invalid {"users": {"items": [{}]}, "names": {"items": []}, "maybe": null}
// invalid {"users": {"items": []}, "names": {"items": [], "next": {"items": [1]}}, "maybe": 1}
