export default function main(input: { name: string; age: number; member: boolean; nothing: null }): string {
  return input.name;
}
// valid {"name": "Ada", "age": 36.5, "member": true, "nothing": null}
// invalid {"name": "Ada", "age": "36", "member": true, "nothing": null}
// invalid {"name": "Ada"}
