// Validates each line of the standard input with a JSON Schema, by Ajv. Prints the errors of the lines that do not match.
const { readFileSync } = require("node:fs");
const Ajv = require("@redocly/ajv/dist/2020").default;
const validate = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true }).compile(JSON.parse(readFileSync(process.argv[2], "utf8")));
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  if (!validate(JSON.parse(line))) console.log(line, JSON.stringify(validate.errors));
}
