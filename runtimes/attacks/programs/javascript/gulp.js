export default async function (input, ctx) {
  return "x".repeat(2 ** 30).length;
}
