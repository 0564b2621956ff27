/** Greets.
 * @param input Whom to greet.
 */
export default function main({ name, times = 1 }: { name: string; times?: number }, ctx: { log(level: string, message: string): void }): string[] {
  return Array(times).fill(name);
}
// valid {"name": "Ada"}
// invalid {"times": 1}
