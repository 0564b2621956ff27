export default async function (input, ctx) {
  const f = () => f();
  f();
}
