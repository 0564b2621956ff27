import { useState } from 'react';
import { useCapabilities } from '../../api/queries';
import { limits as limitsSay, runtimeSection as say } from '../../texts/config';
import { bytes, milliseconds } from '../../texts/format';
import { Field, suffix, suffixed } from '../../ui/Field';
import { languageNames } from '../../agent/starters';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import css from './ConfigPanel.module.css';
import { inUnit, limitFields, limitText, readLimit, unitOf, type LimitField, type Unit } from '../../agent/limits';
import { RuntimeOutlook } from '../../agent/RuntimeOutlook';
import { isolationOptions, runtimeOptions } from '../../agent/runtimes';
import { Section } from './Section';

export function RuntimeSection() {
  const { fields, paths, save, session } = useOpenAgent();
  const { language, runtime, entrypoint, limits } = fields;
  const { timeoutMs, memoryBytes } = limits;
  const capabilities = useCapabilities();
  const known = capabilities.data?.languages.find((l) => l.language === language);
  const runtimes = runtimeOptions(known, runtime);
  const isolation = fields.isolation ?? '';
  const disabled = session === undefined;
  const summary = `${runtime} · ${milliseconds(timeoutMs)} · ${bytes(memoryBytes)}`;
  return (
    <Section id="runtime" title={say.runtimeAndLimits} summary={summary}>
      {known?.available === false && (
        <p className={css.error}>{say.thisServerCannotRun(languageNames[language], known.reason)}</p>
      )}
      <div className={css.pair}>
        <Field label={say.runtime} error={problemAt(save, '/runtime')}>
          {(control) => (
            <select
              {...control}
              disabled={disabled}
              value={runtime}
              onChange={(e) => session?.editDraft({ runtime: e.target.value })}
            >
              {runtimes.map((r) => (
                <option key={r.runtime} value={r.runtime} disabled={r.missing !== undefined && r.runtime !== runtime}>
                  {r.label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={say.entrypoint} error={problemAt(save, '/entrypoint')}>
          {(control) => (
            <select
              {...control}
              disabled={disabled}
              value={entrypoint}
              onChange={(e) => session?.editDraft({ entrypoint: e.target.value })}
            >
              {[...new Set([...paths, entrypoint])].map((path) => (
                <option key={path} value={path}>
                  {path}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <RuntimeOutlook missing={runtimes.find((r) => r.missing !== undefined)} />
      <Field label={say.isolationOfRuns} error={problemAt(save, '/isolation')}>
        {(control) => (
          <select
            {...control}
            disabled={disabled}
            value={isolation}
            onChange={(e) => session?.editDraft({ isolation: e.target.value })}
          >
            {isolationOptions(isolation).map((o) => (
              <option key={o.isolation} value={o.isolation}>
                {o.label}
              </option>
            ))}
          </select>
        )}
      </Field>
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

/** A limit is free text. Only a number up to the maximum reaches the draft. */
function Limit({ field, ceiling }: { field: LimitField; ceiling: number | undefined }) {
  const { fields, save, session } = useOpenAgent();
  const wire = fields.limits[field.key];
  // The unit stays while a user types, so that a growing number keeps its meaning.
  const [typed, setTyped] = useState<{ text: string; unit: Unit }>();
  const unit = typed?.unit ?? unitOf(field, wire);
  const read = typed === undefined ? undefined : readLimit(field, unit, typed.text, ceiling);
  const error = read?.ok === false ? read.message : problemAt(save, `/limits/${field.key}`);
  const change = (text: string): void => {
    setTyped({ text, unit });
    const now = readLimit(field, unit, text, ceiling);
    if (now.ok) session?.editDraft({ limits: { ...fields.limits, [field.key]: now.wire } });
  };
  return (
    <Field
      label={
        <>
          {field.label}
          {ceiling !== undefined && <em> {limitsSay.upTo(limitText(field, ceiling))}</em>}
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
            value={typed?.text ?? inUnit(unit, wire)}
            onChange={(e) => change(e.target.value)}
            onBlur={() => read?.ok !== false && setTyped(undefined)}
          />
          {unit.name !== '' && (
            <span className={suffix} aria-hidden>
              {unit.name}
            </span>
          )}
        </div>
      )}
    </Field>
  );
}
