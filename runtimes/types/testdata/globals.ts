import path from "path";
import { readFileSync } from "node:fs";

interface Event {
  title: string;
}
export default async function main(input: { event: Event }) {
  await new Promise((resolve) => setTimeout(resolve, 1));
  console.log(path.join("a", "b"), readFileSync("c"), process.env.D);
  const answer = await fetch(new URL("http://x.test/"));
  return { ...input, status: answer.status, text: await answer.text(), id: crypto.randomUUID(), took: performance.now() };
}
// valid {"event": {"title": "a"}}
// invalid {"event": {"type": "a"}}
