export default async function (input, ctx) {
  await new Promise((resolve) => setTimeout(resolve, 600000));
}
