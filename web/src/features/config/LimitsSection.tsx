import { useState } from 'react';
import { useCapabilities } from '../../api/queries';
import type { Limits } from '../../api/types';
import { limits as say } from '../../texts/config';
import { bytes, milliseconds } from '../../texts/format';
import { Field, suffix, suffixed } from '../../ui/Field';
import {
  inUnit,
  limitFields,
  limitsOf,
  limitText,
  readLimit,
  unitOf,
  type LimitField,
  type Unit,
} from '../../agent/limits';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import css from './ConfigPanel.module.css';
import { Plain } from './Plain';
import { Section } from './Section';

export function LimitsSection() {
  const { fields, save } = useOpenAgent();
  const capabilities = useCapabilities();
  const limits = limitsOf(fields.limits, capabilities.data?.limits.defaults);
  const { timeoutMs, memoryBytes } = limits;
  const shown = limitFields.filter(
    ({ key }) => key !== 'recursionDepth' || fields.language === 'javascript' || fields.language === 'typescript',
  );
  const wrong = shown.some(({ key }) => problemAt(save, `/limits/${key}`) !== undefined);
  return (
    <Section id="limits" title={say.title} summary={`${milliseconds(timeoutMs)} · ${bytes(memoryBytes)}`} wrong={wrong}>
      <div className={css.pair}>
        {shown.map((field) => (
          <Limit
            key={field.key}
            field={field}
            own={fields.limits}
            limits={limits}
            ceiling={capabilities.data?.limits.ceilings[field.key]}
          />
        ))}
      </div>
    </Section>
  );
}

interface LimitProps {
  field: LimitField;
  /** The limits that the agent sets. 0 means that the server's default applies. */
  own: Limits;
  /** The limits of a run. */
  limits: Limits;
  ceiling: number | undefined;
}

/**
 * The user types a limit as free text. The draft changes when the user leaves the field or presses Enter, so that no
 * unfinished number is saved. It changes only if the text is a number up to the maximum.
 */
function Limit({ field, own, limits, ceiling }: LimitProps) {
  const { save, session } = useOpenAgent();
  const wire = limits[field.key];
  // The unit stays the same while the user types, so that the number keeps its meaning when it grows.
  const [typed, setTyped] = useState<{ text: string; unit: Unit }>();
  const unit = typed?.unit ?? unitOf(field, wire);
  const read = typed === undefined ? undefined : readLimit(field, unit, typed.text, ceiling);
  const error = read?.ok === false ? read.message : problemAt(save, `/limits/${field.key}`);
  const commit = (): void => {
    if (read?.ok !== true) return;
    if (read.wire !== wire) session?.editDraft({ limits: { ...own, [field.key]: read.wire } });
    setTyped(undefined);
  };
  if (!session) return <Plain label={field.label} text={limitText(field, wire)} />;
  return (
    <Field
      label={
        <>
          {field.label}
          {ceiling !== undefined && <em> {say.upTo(limitText(field, ceiling))}</em>}
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
            value={typed?.text ?? inUnit(unit, wire)}
            onChange={(e) => setTyped({ text: e.target.value, unit })}
            onBlur={commit}
            onKeyDown={(e) => e.key === 'Enter' && commit()}
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
