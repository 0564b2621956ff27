// Moves the TODO comments of the code to TODO.md. A comment that shares its line with code stays.
export default async function main({ feedback = "" }, ctx) {
  const found = await ctx.searchContent("^\\s*(#|//)\\s*TODO:?\\s");
  const changed = [];
  const entries = [];
  for (const file of [...new Set(found.map((line) => line.file))]) {
    if (file === "TODO.md") continue;
    const todos = found.filter((line) => line.file === file);
    for (const { line, text } of todos) {
      entries.push(
        `- [ ] ${text.replace(/^\s*(#|\/\/)\s*TODO:?\s+/, "").trim()} (${file}:${line})`,
      );
    }
    if (feedback.includes("keep")) continue;
    const lines = (await ctx.readFile(file)).split("\n");
    const gone = new Set(todos.map(({ line }) => line));
    await ctx.writeFile(
      file,
      lines.filter((_, n) => !gone.has(n + 1)).join("\n"),
    );
    changed.push(file);
  }
  const before = (await ctx.fileExists("TODO.md"))
    ? await ctx.readFile("TODO.md")
    : "";
  const list = before.trimEnd() || "# To do\n";
  const listed = new Set(list.split("\n"));
  const added = entries.filter((entry) => !listed.has(entry));
  if (added.length > 0) {
    await ctx.writeFile("TODO.md", `${[list, ...added].join("\n")}\n`);
    changed.push("TODO.md");
  }
  await ctx.submitResult(
    `Moved ${entries.length} TODO comments to TODO.md`,
    changed,
  );
  return { found: entries.length };
}
