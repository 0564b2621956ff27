interface Base { id: number }
type Named = Base & { name: string } & { tags?: string[] };
type Brand = string & { readonly __brand: unique symbol };
export default function main(input: { one: Named; key: Brand; either: Base & ({ a: string } | { b: string }) }): Named {
  return input.one;
}
// valid {"one": {"id": 1, "name": "a"}, "key": "k", "either": {"id": 1, "b": "x"}}
// invalid {"one": {"id": 1}, "key": "k", "either": {"id": 1, "b": "x"}}
// invalid {"one": {"id": 1, "name": "a"}, "key": 1, "either": {"id": 1, "b": "x"}}
// invalid {"one": {"id": 1, "name": "a"}, "key": "k", "either": {"id": 1}}
