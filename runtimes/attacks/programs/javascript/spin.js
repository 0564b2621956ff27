export default async function (input, ctx) {
  for (;;) {}
}
