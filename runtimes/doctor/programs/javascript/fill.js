export default async function (input, ctx) {
  return Array(1e9).fill(0).length;
}
