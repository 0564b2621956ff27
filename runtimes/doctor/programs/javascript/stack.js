export default async function (input, ctx) {
  let nested = [];
  for (let i = 0; i < 1e6; i++) nested = [nested];
  return JSON.stringify(nested).length;
}
