import { useState } from 'react';
import { useSecrets } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Secret } from '../../api/types';
import { secretsSection as say } from '../../texts/config';
import { Button } from '../../ui/Button';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import { SetSecretDialog } from '../../agent/SetSecretDialog';
import { secretOf } from '../../agent/secretNames';
import css from './ConfigPanel.module.css';
import { LinesField } from './LinesField';
import { Section } from './Section';

/** Edits the list of secrets that the program receives, and shows whether each secret has a value. */
export function SecretsSection() {
  const { id, name: agent, fields, save, session } = useOpenAgent();
  const { secrets } = fields;
  const { mayAnywhere } = useRights();
  const found = useSecrets(secrets.length > 0 && mayAnywhere('read'));
  const [asked, setAsked] = useState<string>();
  const fault = problemAt(save, '/secrets');
  const missing = found.data === undefined ? [] : secrets.filter((s) => secretOf(found.data, s, id) === undefined);
  return (
    <Section
      id="secrets"
      title={say.secrets}
      summary={
        missing.length > 0
          ? say.notSet(missing.length)
          : secrets.length === 0
            ? say.none
            : say.secretsNamed(secrets.length)
      }
      wrong={fault !== undefined || missing.length > 0}
    >
      <LinesField
        id="declared-secrets"
        label={say.namesOneALine}
        hint={say.namesOneALineHint}
        placeholder={say.placeholder}
        error={fault}
        lines={secrets}
        onChange={session && ((next) => session.editDraft({ secrets: next }))}
      />
      {found.data !== undefined && secrets.length > 0 && (
        <ul className={css.secrets} aria-label={say.declaredSecrets}>
          {secrets.map((declared) => {
            const value = secretOf(found.data, declared, id);
            return (
              <li key={declared}>
                <code>{declared}</code>
                {value === undefined ? (
                  <>
                    <span className={css.error}>{say.notSetMark}</span>
                    {mayAnywhere('write') && (
                      <Button aria-label={say.set(declared)} onClick={() => setAsked(declared)}>
                        {say.setButton}
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

function stateOf({ agentId, bind }: Secret): string {
  if (bind !== undefined) return say.setSentTo(bind.host);
  return agentId === undefined ? say.setForAllAgents : say.setForThisAgent;
}
