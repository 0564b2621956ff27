export default async function (input, ctx) {
  for (;;) console.log("x".repeat(1000));
}
