// Builds terminal commands that call a version. The user can paste them unchanged.
import { stringifyJson, type Json } from '../api/json';

export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlLine(origin: string, name: string, version: string, input: Json): string {
  const body = stringifyJson({ version, input });
  return [
    `curl -sS ${origin}/api/v1/code-agents/${name}/execute`,
    `-H "Authorization: Bearer $ATELIER_TOKEN" -H 'Content-Type: application/json'`,
    `-d ${shellQuote(body)}`,
  ].join(' \\\n  ');
}

/** Returns the command that copies a version of the public registry into the user's workspace. */
export const copyLine = (publisher: string, name: string, version: string): string =>
  `atelier registry copy ${publisher}/${name} --version ${version}`;

export const runLine = (name: string, version: string, input: Json): string =>
  `atelier run ${name}@${version} --input ${shellQuote(stringifyJson(input))}`;
