/** Shows the parts of a sentence in backticks as code. The server puts names and commands in backticks. */
export function Quoted({ text }: { text: string }) {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : <code key={i}>{part}</code>));
}
