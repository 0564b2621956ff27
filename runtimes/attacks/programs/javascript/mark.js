export default async function (input, ctx) {
  const marked = ["mark", "neighbour"].filter((name) => name in globalThis);
  if (Object.prototype.mark) marked.push("Object.prototype");
  globalThis.mark = true;
  Object.prototype.mark = true;
  delete input.mark;
  return marked;
}
