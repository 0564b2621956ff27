async function load(id: number) {
  return { id, tags: ["a"], nested: { ok: true as const } };
}
export default async function main(input: { ids: number[] }) {
  return Promise.all(input.ids.map(load));
}
// valid {"ids": [1, 2]}
// invalid {"ids": ["a"]}
