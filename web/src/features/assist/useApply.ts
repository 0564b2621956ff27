import { stringifyJson } from '../../api/json';
import type { Files } from '../../api/types';
import { schemaOf, useOpenAgent, useOpenFiles } from '../../agent/openAgent';
import { rememberInput } from '../../agent/rememberedInput';
import { added, type Changes, type Part } from './parts';

/**
 * Returns a function that applies parts of a proposal to the open draft. That function returns another function, which
 * undoes the parts.
 */
export function useApply(): (proposal: Changes & { sampleInput?: unknown }, parts: readonly Part[]) => () => void {
  const { id, session, fields, editSchema } = useOpenAgent();
  const before = useOpenFiles();
  return (proposal, parts) => {
    const takes = (kind: Part['kind']): boolean => parts.some((part) => part.kind === kind);
    const changed = parts.flatMap(({ kind, path }) => {
      const after = proposal.files[path];
      return kind === 'file' && after !== undefined ? [{ path, before: before[path], after }] : [];
    });
    const tests = fields.tests ?? [];
    const newTests = takes('tests') ? added(tests, proposal.tests ?? []) : undefined;
    const files: Files = { ...before, ...Object.fromEntries(changed.map(({ path, after }) => [path, after])) };
    session?.editDraft({ files, ...(newTests && { tests: newTests }) });
    const { input, output } = proposal.schemas ?? {};
    const schemas = [
      ['input', takes('input') ? input : undefined],
      ['output', takes('output') ? output : undefined],
    ] as const;
    for (const [which, schema] of schemas) if (schema !== undefined) editSchema(which, `${stringifyJson(schema, 2)}\n`);
    if (takes('input') && proposal.sampleInput !== undefined) rememberInput(id, stringifyJson(proposal.sampleInput, 2));
    return () => {
      if (!session) return;
      const now = session.get().draft;
      const mine = changed.filter(({ path, after }) => now.files[path] === after); // the user has edited the other parts since then
      const restored = Object.entries(now.files).flatMap(([path, file]) => {
        const one = mine.find((change) => change.path === path);
        if (!one) return [[path, file]];
        return one.before === undefined ? [] : [[path, one.before]];
      });
      const untouched = newTests && now.tests === newTests;
      session.editDraft({ files: Object.fromEntries(restored) as Files, ...(untouched && { tests }) });
      for (const [which, schema] of schemas) {
        if (schema === undefined || stringifyJson(schemaOf(now, which)) !== stringifyJson(schema)) continue; // the user has edited this part since then
        editSchema(which, `${stringifyJson(schemaOf(fields, which), 2)}\n`, fields.schemaSources?.[which]);
      }
    };
  };
}
