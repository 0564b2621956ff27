import { Quoted } from '../ui/Quoted';
import { isObject, type Json } from '../api/json';
import type { Diff } from '../api/types';
import { changes as say } from '../texts/compare';
import css from './Changes.module.css';
import { FileChange } from './FileChange';

const groups = {
  schema: say.schemas,
  capabilities: say.capabilities,
  limits: say.limits,
  settings: say.settings,
} as const;

/**
 * Shows the differences between two versions: sentences first, then field tables, then files. `linesOnly` is for pages
 * without an open agent, which do not offer whole files.
 */
export function Changes({ diff, linesOnly = false }: { diff: Diff; linesOnly?: boolean }) {
  if (
    diff.advice.reasons.length === 0 &&
    diff.files.length === 0 &&
    diff.settings.length === 0 &&
    diff.packages.length === 0
  )
    return null;
  return (
    <div className={css.changes}>
      <Reasons reasons={diff.advice.reasons} />
      {diff.packages.length > 0 && (
        <section aria-label={say.packages}>
          <h3>{say.packages}</h3>
          <ul>
            {diff.packages.map((p) => (
              <li key={`${p.name} ${p.before ?? ''} ${p.after ?? ''}`}>{say.packageChanged(p)}</li>
            ))}
          </ul>
        </section>
      )}
      {Object.entries(groups).map(([group, title]) => {
        const fields = diff.settings.filter((s) => s.group === group && plain(s.before) !== plain(s.after));
        if (fields.length === 0) return null;
        const table = <Fields key={group} title={title} fields={fields} from={diff.from} to={diff.to} />;
        // Schema changes are omitted here, because the sentences above describe them.
        if (group !== 'schema') return table;
        return (
          <details key={group} className={css.folded}>
            <summary>{say.schemasAsJson}</summary>
            {table}
          </details>
        );
      })}
      {diff.files.map((file) => (
        <FileChange key={file.path} file={file} from={diff.from} to={diff.to} linesOnly={linesOnly} />
      ))}
    </div>
  );
}

export function Reasons({ reasons }: { reasons: readonly Diff['advice']['reasons'][number][] }) {
  return (
    <ul className={css.reasons} aria-label={say.whatChanged}>
      {reasons.map((r) => (
        <li key={r.pointer + r.message}>
          <span className={r.bump === 'major' ? css.major : undefined}>{r.bump}</span>
          <span title={r.pointer}>
            <Quoted text={r.message} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Shows names one per line and variables as assignments; anything else as JSON. */
function plain(value: Json | undefined): string {
  if (value === undefined || value === null || value === '') return say.none;
  if (typeof value === 'string') return value;
  const lines = Array.isArray(value) ? value : isObject(value) ? Object.entries(value).map(setting) : [value];
  if (lines.length === 0) return say.none;
  return lines.every((line) => typeof line === 'string') ? lines.join('\n') : JSON.stringify(value, null, 2);
}

const setting = ([name, value]: [string, Json]): Json => (typeof value === 'string' ? `${name}=${value}` : value);

function Fields({ title, fields, from, to }: { title: string; fields: Diff['settings']; from: string; to: string }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <div className={css.scroll} tabIndex={0} role="region" aria-label={say.changesOf(title.toLowerCase())}>
        <table>
          <thead>
            <tr>
              <th scope="col">{say.field}</th>
              <th scope="col">{from === '' ? say.before : from}</th>
              <th scope="col">{to}</th>
            </tr>
          </thead>
          <tbody>
            {fields.map((f) => (
              <tr key={f.name}>
                <th scope="row" title={f.name}>
                  {say.fields[f.name] ?? f.name}
                </th>
                <td data-side={from === '' ? say.before : from}>{plain(f.before)}</td>
                <td data-side={to}>{plain(f.after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
