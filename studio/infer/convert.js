// This script converts the schemas that a program exports as input and output to JSON Schema. It uses the conversion of
// the library that made the schema. The script runs in the sandbox as the entry file of a job. Before it come imports
// of the program, of Zod and of zod-to-json-schema, if the job has them.
const OTHER = "Any value is accepted.";
const LOST = {
  date: "a date is no JSON value: z.date() refuses every input, z.coerce.date() and z.iso.datetime() take text",
  bigint: "a BigInt is no JSON value", map: "a Map is no JSON value", set: "a Set is no JSON value", symbol: "a symbol is no JSON value",
  function: "a function is no JSON value", undefined: "undefined is no JSON value", void: "undefined is no JSON value", nan: "NaN is no JSON value",
  custom: "JSON Schema cannot say what a custom schema accepts", any: "the type is any", file: "a file is no JSON value",
};
const REFINED = "has a refinement, which JSON Schema cannot say. It is checked in the run.";
const CHANGED = "has a transform: main receives the value that it returns.";

const label = (path) => path.filter((part) => !["properties", "items", "#", "$defs", "definitions", "anyOf", "allOf", "oneOf"].includes(part)).join(".");
const note = (notes, path, text) => {
  const name = label(path.map(String));
  const message = name === "" ? text[0].toUpperCase() + text.slice(1) : `${name}: ${text}`;
  if (!notes.includes(message) && notes.length < 100) notes.push(message);
};

// Zod 4 calls the returned function for each part of a schema.
const noteZod4 = (notes, io) => ({ zodSchema, path = [] }) => {
  const { type, checks = [], out, in: from } = zodSchema._zod.def;
  const transforms = (one) => one?._zod.def.type === "transform";
  if (type === "pipe" && (transforms(out) || transforms(from))) note(notes, path, io === "input" && !transforms(from) ? CHANGED : "has a transform. " + OTHER);
  else if (LOST[type] !== undefined) note(notes, path, `${LOST[type]}. ${OTHER}`);
  if (checks.some((check) => check._zod?.def.check === "custom")) note(notes, path, REFINED);
};
// zod-to-json-schema calls the returned function for each part of a Zod 3 schema.
const noteZod3 = (notes, io) => (schema, def, { currentPath }) => {
  const type = def.typeName.replace("Zod", "").toLowerCase();
  if (def.typeName === "ZodEffects") {
    if (def.effect.type === "refinement") note(notes, currentPath, REFINED);
    else note(notes, currentPath, io === "input" && def.effect.type === "transform" ? CHANGED : "has a transform. " + OTHER);
  } else if (LOST[type] !== undefined) note(notes, currentPath, `${LOST[type]}.`);
  return schema;
};

const convert = (schema, io, notes) => {
  const own = schema["~standard"];
  const options = { io, target: "draft-2020-12", unrepresentable: "any", override: noteZod4(notes, io) };
  if (schema._zod && !own.jsonSchema) {
    if (typeof zod?.toJSONSchema !== "function") return "comes from a Zod without toJSONSchema: take zod@^4";
    return zod.toJSONSchema(schema, options);
  }
  if (schema._zod) return own.jsonSchema[io]({ target: options.target, libraryOptions: { unrepresentable: "any", override: options.override } });
  if (schema._def?.typeName) {
    if (typeof zodToJsonSchema !== "function") return "comes from Zod 3, which has no JSON Schema of its own: add zod-to-json-schema to the packages, or take zod@^4";
    return zodToJsonSchema(schema, { pipeStrategy: io, effectStrategy: io === "input" ? "input" : "any", postProcess: noteZod3(notes, io) });
  }
  if (typeof own.jsonSchema?.[io] === "function") return own.jsonSchema[io]({ target: options.target });
  return null;
};

// The schema of a tool needs its type at the root, so rooted replaces a reference at the root by the schema to which it
// refers.
const rooted = (schema) => {
  const [, holder, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(schema.$ref ?? "") ?? [];
  const { $ref, ...rest } = schema;
  const whole = name === undefined ? schema : { ...rest, ...schema[holder][name] };
  const choices = whole.anyOf ?? whole.oneOf;
  return whole.type === undefined && choices?.length > 0 && choices.every((one) => one.type === "object") ? { ...whole, type: "object" } : whole;
};

const exported = (name) => [program, program.default].map((holder) => holder?.[name]).find((schema) => typeof schema?.["~standard"]?.validate === "function");

export default () => {
  const found = {};
  for (const io of ["input", "output"]) {
    const schema = exported(io);
    if (schema === undefined) continue;
    const notes = [];
    const vendor = String(schema["~standard"].vendor ?? "");
    try {
      const made = convert(schema, io, notes);
      if (made === null) found[io] = { vendor, absent: true };
      else if (typeof made === "string") found[io] = { vendor, problem: made };
      else found[io] = { vendor, notes, schema: rooted(made) };
    } catch (error) {
      found[io] = { vendor, problem: `cannot be written as JSON Schema: ${error?.message ?? error}` };
    }
  }
  return found;
};
