import { useState } from 'react';
import type { Pin } from '../api/types';
import { ago } from '../texts/format';
import { pinTable as say } from '../texts/versions';
import css from './Pins.module.css';

/** Lists the owners that reference an agent, and the version to which each reference resolves. */
export function PinTable({ pins }: { pins: Pin[] }) {
  const [now] = useState(() => Date.now());
  return (
    <ul className={css.pins} aria-label={say.usedBy}>
      {pins.map((pin) => (
        <li key={`${pin.owner} ${pin.reference}`}>
          <strong title={pin.owner}>{pin.label === '' ? pin.owner : pin.label}</strong>
          <code>{pin.reference}</code>
          <span className={pin.deprecated || pin.version === '' ? css.warn : undefined}>{standsFor(pin)}</span>
          <span className={css.since}>{ago(pin.createdAt, now)}</span>
        </li>
      ))}
    </ul>
  );
}

function standsFor({ version, reference, deprecated }: Pin): string {
  if (version === '') return say.standsForNothingNow;
  const exact = reference.endsWith(`@${version}`);
  if (deprecated) return exact ? say.deprecatedMustMove : say.getsWhichIsDeprecated(version);
  return exact ? say.pinned : say.gets(version);
}
