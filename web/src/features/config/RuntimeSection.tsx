import { useState } from 'react';
import { useCapabilities } from '../../api/queries';
import { Field, suffix, suffixed } from '../../ui/Field';
import { languageNames } from '../agents/blank';
import { problemAt, useOpenAgent } from '../agents/openAgent';
import css from './ConfigPanel.module.css';
import { ceilingText, inUnit, limitFields, readLimit, type LimitField } from './limits';
import { Section } from './Section';

export function RuntimeSection() {
  const { fields, save, session } = useOpenAgent();
  const { language, runtime, entrypoint, files, limits } = fields;
  const { timeoutMs, memoryBytes } = limits;
  const capabilities = useCapabilities();
  const known = capabilities.data?.languages.find((l) => l.language === language);
  const runtimes = [...new Set(['auto', ...(known?.runtimes ?? []), runtime])];
  const disabled = session === undefined;
  const summary = `${runtime} · ${timeoutMs / 1000} s · ${Math.round(memoryBytes / 2 ** 20)} MiB`;
  return (
    <Section id="runtime" title="Runtime and limits" summary={summary}>
      {known?.available === false && (
        <p className={css.error}>
          This server cannot run {languageNames[language]}. {known.reason}
        </p>
      )}
      <div className={css.pair}>
        <Field label="Runtime" error={problemAt(save, '/runtime')}>
          {(control) => (
            <select
              {...control}
              disabled={disabled}
              value={runtime}
              onChange={(e) => session?.editDraft({ runtime: e.target.value })}
            >
              {runtimes.map((r) => (
                <option key={r} value={r}>
                  {r}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Entrypoint" error={problemAt(save, '/entrypoint')}>
          {(control) => (
            <select
              {...control}
              disabled={disabled}
              value={entrypoint}
              onChange={(e) => session?.editDraft({ entrypoint: e.target.value })}
            >
              {[...new Set([...Object.keys(files), entrypoint])].map((path) => (
                <option key={path} value={path}>
                  {path}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <div className={css.pair}>
        {limitFields
          .filter((field) => field.key !== 'recursionDepth' || language === 'javascript' || language === 'typescript')
          .map((field) => (
            <Limit key={field.key} field={field} ceiling={capabilities.data?.limits.ceilings[field.key]} />
          ))}
      </div>
    </Section>
  );
}

/** A limit is typed freely; only a number within the ceiling reaches the draft. */
function Limit({ field, ceiling }: { field: LimitField; ceiling: number | undefined }) {
  const { fields, save, session } = useOpenAgent();
  const wire = fields.limits[field.key];
  const [typed, setTyped] = useState<string>();
  const read = typed === undefined ? undefined : readLimit(field, typed, ceiling);
  const error = read?.ok === false ? read.message : problemAt(save, `/limits/${field.key}`);
  const change = (text: string): void => {
    setTyped(text);
    const now = readLimit(field, text, ceiling);
    if (now.ok) session?.editDraft({ limits: { ...fields.limits, [field.key]: now.wire } });
  };
  return (
    <Field
      label={
        <>
          {field.label}
          {ceiling !== undefined && <em> {ceilingText(field, ceiling)}</em>}
        </>
      }
      error={error}
      id={`limit-${field.key}`}
    >
      {(control) => (
        <div className={suffixed}>
          <input
            {...control}
            inputMode="decimal"
            autoComplete="off"
            readOnly={session === undefined}
            value={typed ?? inUnit(field, wire)}
            onChange={(e) => change(e.target.value)}
            onBlur={() => read?.ok !== false && setTyped(undefined)}
          />
          {field.unit !== '' && (
            <span className={suffix} aria-hidden>
              {field.unit}
            </span>
          )}
        </div>
      )}
    </Field>
  );
}
