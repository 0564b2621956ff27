export default async function (input, ctx) {
  const all = [];
  for (;;) all.push({ n: all.length, text: "x" + all.length });
}
