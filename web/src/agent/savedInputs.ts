// Named inputs of an agent. They are part of its metadata, so that everybody who opens the agent has them.
import { entriesOf, isText } from '../api/storage';

/** Name and JSON text, in the order of saving. The text keeps the digits of large numbers. */
export type SavedInputs = Record<string, string>;
type Metadata = Record<string, unknown>;

const field = 'inputs';

// The metadata of an agent has at most 16 KiB, with room for what other clients store there.
export const mostBytes = 14 * 1024;

export const savedInputs = (metadata: Metadata): SavedInputs => entriesOf(metadata[field], isText);

/** Returns the metadata with these inputs, or undefined if they are too large together. */
export function withInputs(metadata: Metadata, inputs: SavedInputs): Metadata | undefined {
  const { [field]: _before, ...others } = metadata;
  const next = Object.keys(inputs).length === 0 ? others : { ...others, [field]: inputs };
  return new TextEncoder().encode(JSON.stringify(next)).length > mostBytes ? undefined : next;
}
