import os from "node:os";

export default async ({ name }) => {
  console.log("hello " + name);
  return { greeting: "Hello, " + name, node: process.version, intl: new Intl.NumberFormat("de").format(1.5), eol: os.EOL.length };
};
