export default async function (input, ctx) {
  return "x".repeat(2 ** 40).length;
}
