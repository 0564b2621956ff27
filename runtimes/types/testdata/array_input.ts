export default function main(input: string[]): string {
  return input.join();
}
// valid {}
