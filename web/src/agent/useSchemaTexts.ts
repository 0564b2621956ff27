// Stores the schemas as editable text. A draft stores a schema as a value. The typed text, including spacing and
// temporary errors, is stored here. It is copied to the draft when it is valid JSON.
import { useCallback, useMemo, useState } from 'react';
import { isObject, parseJson, stringifyJson } from '../api/json';
import type { JsonSchema, SchemaSource } from '../api/types';
import { faultSentence } from '../schema/locate';
import { useSchemaTexts as say } from '../texts/agents';
import type { Opened, OpenAgent, SchemaText } from './openAgent';

type Which = 'input' | 'output';
type Entry = SchemaText & { schema: JsonSchema };

const entryOf = (schema: JsonSchema): Entry => ({ schema, text: stringifyJson(schema, 2) + '\n', fault: undefined });

/**
 * The draft may change outside of this editor, for example after a conflict or when the user opens another agent. If
 * another tab saves other fields, the schema is a new object with the same content. Then the typed text stays, even if
 * it is not valid JSON.
 */
function entryFor(schema: JsonSchema, now: Entry): Entry {
  if (now.schema === schema) return now;
  return stringifyJson(now.schema) === stringifyJson(schema) ? { ...now, schema } : entryOf(schema);
}

export function useSchemaTexts(opened: Opened): Pick<OpenAgent, 'schemas' | 'editSchema'> {
  const { inputSchema, outputSchema } = opened.fields;
  const [entries, setEntries] = useState(() => ({
    input: entryOf(inputSchema),
    output: entryOf(outputSchema),
  }));

  const input = entryFor(inputSchema, entries.input);
  const output = entryFor(outputSchema, entries.output);
  if (input !== entries.input || output !== entries.output) setEntries({ input, output });

  const { session } = opened;
  const editSchema = useCallback(
    (which: Which, text: string, source?: SchemaSource) => {
      const read = readSchema(text);
      setEntries((now) => ({
        ...now,
        [which]:
          'fault' in read
            ? { ...now[which], text, fault: read.fault }
            : { schema: read.schema, text, fault: undefined },
      }));
      if ('schema' in read) session?.editSchema(which, read.schema, source);
    },
    [session],
  );
  const schemas = useMemo(() => ({ input, output }), [input, output]);
  return { schemas, editSchema };
}

function readSchema(text: string): { schema: JsonSchema } | { fault: string } {
  try {
    const value = parseJson(text);
    if (isObject(value) || typeof value === 'boolean') return { schema: value };
    return { fault: say.aSchemaIsAnObject };
  } catch {
    return { fault: faultSentence(text) };
  }
}
