// Reads and writes the named inputs of an agent. They are part of the agent's metadata, so every user who opens the
// agent sees them.
import { entriesOf, isText } from '../api/storage';

/**
 * The name and the JSON text of an input, in the order in which they were saved. A text keeps the digits of large
 * numbers.
 */
export type SavedInputs = Record<string, string>;
type Metadata = Record<string, unknown>;

const field = 'inputs';

// The server limits the metadata of an agent to 16 KiB. This limit leaves space for the data of other clients.
export const mostBytes = 14 * 1024;

export const savedInputs = (metadata: Metadata): SavedInputs => entriesOf(metadata[field], isText);

/** Returns the metadata with these inputs. Returns undefined if the inputs are too large. */
export function withInputs(metadata: Metadata, inputs: SavedInputs): Metadata | undefined {
  const { [field]: _before, ...others } = metadata;
  const next = Object.keys(inputs).length === 0 ? others : { ...others, [field]: inputs };
  return new TextEncoder().encode(JSON.stringify(next)).length > mostBytes ? undefined : next;
}
