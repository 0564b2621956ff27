import { useState } from 'react';
import { serverUrl } from '../../api/base';
import { refreshTokens } from '../../api/queries';
import { useRights } from '../../api/rights';
import { createToken } from '../../api/verbs';
import { connectDialog as say } from '../../texts/connect';
import { common } from '../../texts/common';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Dialog } from '../../ui/Dialog';
import { Fault } from '../../ui/Fault';
import { Check, Field } from '../../ui/Field';
import { useTask } from '../../ui/useTask';
import { addressOf, clients, labelOf, snippetOf, tokenCommand, type ClientName, type Offer } from './snippets';
import css from './ConnectDialog.module.css';

const validFor = 90 * 86_400_000;

interface Reached {
  id: string;
  name: string;
}

export interface ConnectProps {
  kind: Offer['kind'];
  /** The name of the agent or of the tool set; '' means all agents. */
  name: string;
  /** The versions of the agent that the user can select. */
  versions?: readonly string[];
  version?: string;
  /** The agents that the token must give access to. Without a list, the token gives access to all agents. */
  agents: readonly Reached[];
  onClose: () => void;
}

/** Shows the configuration of common MCP clients, with a token that has only the necessary scope. */
export function ConnectDialog({ kind, name, versions = [], version: first = '', agents, onClose }: ConnectProps) {
  const [client, setClient] = useState<ClientName>('claude-code');
  const [version, setVersion] = useState(first);
  const [codeMode, setCodeMode] = useState(false);
  const [secret, setSecret] = useState<{ text: string; restricted: boolean }>();
  const offer: Offer = {
    origin: serverUrl(),
    kind,
    name: version === '' ? name : `${name}@${version}`,
    codeMode,
  };
  const restricted = !codeMode && agents.length > 0;
  // Code mode needs a token that is not restricted to some agents.
  const fits = secret !== undefined && (secret.restricted ? restricted : true) ? secret.text : undefined;
  const { file, text } = snippetOf(client, offer, fits);
  const { mayAnywhere } = useRights();
  const offersToken = client !== 'chatgpt' && fits === undefined && mayAnywhere('admin');
  const url = addressOf(offer);
  const title = say.clients[client];
  return (
    <Dialog
      wide
      title={say.connect}
      about={say.about}
      onClose={onClose}
      foot={
        <Button {...(offersToken ? {} : { look: 'primary' })} onClick={onClose}>
          {common.done}
        </Button>
      }
    >
      <div className={css.bar}>
        <Field label={say.client}>
          {(control) => (
            <select {...control} value={client} onChange={(e) => setClient(clientOf(e.target.value))}>
              {clients.map((one) => (
                <option key={one} value={one}>
                  {say.clients[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {versions.length > 0 && (
          <Field label={say.version}>
            {(control) => (
              <select {...control} value={version} onChange={(e) => setVersion(e.target.value)}>
                <option value="">{say.newest}</option>
                {versions.map((one) => (
                  <option key={one} value={one}>
                    {one}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
      </div>
      <dl className={css.facts}>
        <dt>{say.offer}</dt>
        <dd>{kind === 'all' ? say.all : kind === 'set' ? say.set(name) : say.agent(name)}</dd>
        <dt>{say.address}</dt>
        <dd>
          <code>{url}</code>
          <CopyButton text={url} label={say.copyAddress} />
        </dd>
      </dl>
      {kind !== 'agent' && (
        <Check label={say.codeMode} hint={say.codeModeHint} checked={codeMode} onChange={setCodeMode} />
      )}
      {client !== 'chatgpt' && (
        <Token
          key={String(restricted)}
          name={say.tokenName(labelOf(offer), title)}
          agents={restricted ? agents : []}
          secret={fits}
          use={deliveryOf(client)}
          onMade={(made) => setSecret({ text: made, restricted })}
        />
      )}
      <section className={css.part} aria-label={say.configuration(title)}>
        <div className={css.head}>
          <h3 className={css.step}>{say.setUp(title)}</h3>
          <CopyButton text={text} label={say.copyConfiguration} wording={say.copy} />
        </div>
        <p>{say.where[client]}</p>
        {file !== undefined && <code>{file}</code>}
        <pre tabIndex={0} role="group" aria-label={say.configuration(title)}>
          {text}
        </pre>
      </section>
    </Dialog>
  );
}

const clientOf = (value: string): ClientName => clients.find((one) => one === value) ?? 'curl';

/** Explains how a client gets the token: from its configuration, from the user, or from an environment variable. */
function deliveryOf(client: ClientName): 'written' | 'asked' | 'variable' {
  if (client === 'vscode') return 'asked';
  return client === 'claude-desktop' || client === 'windsurf' ? 'written' : 'variable';
}

interface TokenProps {
  name: string;
  /** Returns the agents to which the token is restricted. An empty list means all agents. */
  agents: readonly Reached[];
  secret: string | undefined;
  use: 'written' | 'asked' | 'variable';
  onMade: (secret: string) => void;
}

function Token({ name, agents, secret, use, onMade }: TokenProps) {
  const { mayAnywhere } = useRights();
  const task = useTask();
  const make = (): void =>
    task.run(async () => {
      const expiresAt = new Date(Date.now() + validFor).toISOString();
      const made = await createToken({ name, scopes: ['run'], agents: agents.map(({ id }) => id), expiresAt });
      await refreshTokens();
      onMade(made.secret);
    });
  const scope = <code>run</code>;
  if (secret !== undefined) {
    return (
      <section className={css.part} aria-label={say.token}>
        <h3 className={css.step}>{say.token}</h3>
        <p role="status">
          {say.created}{' '}
          {use === 'written'
            ? say.isInConfiguration
            : use === 'asked'
              ? say.askedFor
              : say.readFrom(<code>ATELIER_TOKEN</code>)}
        </p>
        <div className={css.secret}>
          <output aria-label={say.secret}>{secret}</output>
          <CopyButton text={secret} label={say.copyToken} />
        </div>
      </section>
    );
  }
  return (
    <section className={css.part} aria-label={say.token}>
      <h3 className={css.step}>{say.token}</h3>
      <p>
        {agents.length === 0
          ? say.tokenScope(scope)
          : agents.length <= 3
            ? say.tokenFor(scope, agents.map((agent) => agent.name).join(', '))
            : say.tokenForMany(scope, agents.length)}{' '}
        {mayAnywhere('admin')
          ? say.validFor
          : say.askAdministrator(<code>{tokenCommand(agents.map((agent) => agent.name))}</code>)}
      </p>
      {mayAnywhere('admin') && (
        <Button look="primary" disabled={task.busy} onClick={make}>
          {say.createToken}
        </Button>
      )}
      <Fault message={task.fault} />
    </section>
  );
}
