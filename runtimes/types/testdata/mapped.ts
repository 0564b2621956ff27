type Flags<T> = { [K in keyof T]: boolean };
type Getters<T> = { [K in keyof T as `get_${string & K}`]?: T[K] };
interface Options { fast: string; safe: number }
export default function main(input: { flags: Flags<Options>; getters: Getters<Options> }): Flags<Options> {
  return input.flags;
}
// valid {"flags": {"fast": true, "safe": false}, "getters": {"get_fast": "x"}}
// invalid {"flags": {"fast": true}, "getters": {}}
// invalid {"flags": {"fast": true, "safe": true}, "getters": {"get_safe": "x"}}
