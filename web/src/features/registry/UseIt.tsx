import { serverUrl } from '../../api/base';
import type { ListedAgent, Version } from '../../api/types';
import { showDialog } from '../../state/dialogs';
import { exampleValue } from '../../schema/form/defaults';
import { useIt as say } from '../../texts/registry';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import sheet from '../../ui/Sheet.module.css';
import { copyLine, curlLine, runLine } from '../../agent/callCommands';
import { useIsOwn } from './ListedAbout';
import css from './ListedPage.module.css';

/**
 * Shows how to call this version. References and tools contain names of agents in the user's workspace. So the user
 * first copies an agent of another workspace.
 */
export function UseIt({ agent, version }: { agent: ListedAgent; version: Version }) {
  const { publisher, name } = agent;
  const own = useIsOwn(publisher);
  const number = version.version;
  const input = exampleValue(version.inputSchema);
  return (
    <section className={sheet.section} aria-labelledby="use">
      <div className={sheet.bar}>
        <h2 id="use">{say.useIt}</h2>
        <span className={sheet.grow} />
        {own && <Button onClick={() => showDialog({ kind: 'export', version: number })}>{say.exportAsTool}</Button>}
      </div>
      {!own && <p className={sheet.quiet}>{say.copyItFirst}</p>}
      <div className={css.lines}>
        {own && <Line label={say.reference} text={`${name}@${number}`} />}
        {own && <Line label={say.pinned} text={`${name}@${version.digest}`} />}
        {own && <Line label={say.fromATerminal} text={runLine(name, number, input)} />}
        {own && <Line label={say.overHttp} text={curlLine(serverUrl(), name, number, input)} />}
        {!own && <Line label={say.copyFromATerminal} text={copyLine(publisher, name, number)} />}
        {!own && <Line label={say.digest} text={version.digest} />}
      </div>
    </section>
  );
}

function Line({ label, text }: { label: string; text: string }) {
  return (
    <div className={css.line}>
      <h3>{label}</h3>
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton label={say.copyOne(label)} text={text} />
    </div>
  );
}
