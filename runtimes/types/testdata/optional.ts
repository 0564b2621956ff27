interface Input {
  a?: string;
  b: string | undefined;
  c: string | null;
  d?: number | null;
}
export async function main(input: Input): Promise<string | undefined> {
  return input.a;
}
// valid {"c": null}
// valid {"a": "x", "b": "y", "c": "z", "d": 1}
// invalid {}
// invalid {"a": null, "c": null}
