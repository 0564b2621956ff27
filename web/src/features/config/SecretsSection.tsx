import { useState } from 'react';
import { useSecrets } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Secret } from '../../api/types';
import { plural } from '../../app/format';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { problemAt, useOpenAgent } from '../agents/openAgent';
import { SetSecretDialog } from '../secrets/SetSecretDialog';
import css from './ConfigPanel.module.css';
import { sameHosts as same, toHosts as toNames } from './hosts';
import { Section } from './Section';

/** The names of secrets that the program is given, and which of them have a value. */
export function SecretsSection() {
  const { id, name: agent, fields, save, session } = useOpenAgent();
  const { secrets } = fields;
  const { mayAnywhere } = useRights();
  const found = useSecrets(secrets.length > 0 && mayAnywhere('read'));
  const [text, setText] = useState(() => secrets.join('\n'));
  const [asked, setAsked] = useState<string>();
  // Changed from outside: another draft was taken.
  if (!same(toNames(text), secrets)) setText(secrets.join('\n'));
  const change = (next: string): void => {
    setText(next);
    session?.editDraft({ secrets: toNames(next) });
  };
  const fault = problemAt(save, '/secrets');
  const missing = found.data === undefined ? [] : secrets.filter((s) => valueOf(found.data, s, id) === undefined);
  return (
    <Section
      id="secrets"
      title="Secrets"
      summary={
        missing.length > 0
          ? `${String(missing.length)} not set`
          : secrets.length === 0
            ? 'None'
            : plural(secrets.length, 'secret')
      }
      wrong={fault !== undefined || missing.length > 0}
    >
      <Field
        label="Names, one a line"
        mono
        id="declared-secrets"
        error={fault}
        hint="Values come from the workspace when it runs, in ctx.env and as environment variables."
      >
        {(control) => (
          <textarea
            {...control}
            rows={Math.min(8, Math.max(2, text.split('\n').length))}
            spellCheck={false}
            autoComplete="off"
            placeholder="API_KEY"
            readOnly={session === undefined}
            value={text}
            onChange={(e) => change(e.target.value)}
          />
        )}
      </Field>
      {found.data !== undefined && secrets.length > 0 && (
        <ul className={css.secrets} aria-label="Declared secrets">
          {secrets.map((declared) => {
            const value = valueOf(found.data, declared, id);
            return (
              <li key={declared}>
                <code>{declared}</code>
                {value === undefined ? (
                  <>
                    <span className={css.error}>not set</span>
                    {mayAnywhere('write') && (
                      <Button aria-label={`Set ${declared}`} onClick={() => setAsked(declared)}>
                        Set…
                      </Button>
                    )}
                  </>
                ) : (
                  <span className={css.hint}>{stateOf(value)}</span>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {asked !== undefined && <SetSecretDialog name={asked} agent={agent} onClose={() => setAsked(undefined)} />}
    </Section>
  );
}

/** The agent's own goes before the one of the workspace. */
const valueOf = (all: Secret[], name: string, agentId: string): Secret | undefined =>
  all.find((s) => s.name === name && s.agentId === agentId) ??
  all.find((s) => s.name === name && s.agentId === undefined);

function stateOf({ agentId, bind }: Secret): string {
  if (bind !== undefined) return `set, sent to ${bind.host}`;
  return agentId === undefined ? 'set for all agents' : 'set for this agent';
}
