export default async function (input: { name: string }): Promise<{ greeting: string }> {
  console.log(`hello ${input.name}`);
  return { greeting: `Hello, ${input.name}` };
}
