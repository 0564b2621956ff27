import { CircleCheck, CircleSlash, CircleX, Hourglass, Plus } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { LanguageMark } from '../../agent/LanguageMark';
import { RunMark } from '../../agent/RunMark';
import type { RunStatus } from '../../api/types';
import { Column, Page } from '../../frame/Page';
import { dismissAll, notify } from '../../state/notices';
import { componentsPage as say } from '../../texts/components';
import { Amount } from '../../ui/Amount';
import { Avatar } from '../../ui/Avatar';
import { Button, IconButton } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { ConfirmDialog } from '../../ui/ConfirmDialog';
import { CopyButton } from '../../ui/CopyButton';
import { DataTable } from '../../ui/DataTable';
import { Dialog } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { Few } from '../../ui/Few';
import { Check, Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { JsonText } from '../../ui/JsonText';
import { Listed } from '../../ui/Listed';
import { Markdown } from '../../ui/Markdown';
import { Menu } from '../../ui/Menu';
import { NotLoaded } from '../../ui/NotLoaded';
import { Quoted } from '../../ui/Quoted';
import { Summary } from '../../ui/Summary';
import { Retry } from '../../ui/Retry';
import { Shares } from '../../ui/Shares';
import { Skeleton, type Shape } from '../../ui/Skeleton';
import { Splitter } from '../../ui/Splitter';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { Tags } from '../../ui/Tags';
import { TextField } from '../../ui/TextField';
import { Waiting } from '../../ui/Waiting';
import css from './ComponentsPage.module.css';

const nothing = (): void => undefined;

/** Shows every shared component of the Studio in both themes, for development. */
export function ComponentsPage() {
  useEffect(() => {
    document.title = say.pageTitle;
    return dismissAll;
  }, []);
  return (
    <Page>
      <Column wide>
        <div>
          <h1>{say.title}</h1>
          <p>{say.lead}</p>
        </div>
        <div className={css.themes}>
          {(['dark', 'light'] as const).map((theme) => (
            <section key={theme} className={css.theme} data-theme={theme} aria-label={say.themes[theme]}>
              <h2>{say.themes[theme]}</h2>
              <Scales />
              <Buttons />
              <Fields theme={theme} />
              <States />
              <Pictures theme={theme} />
              <Rows theme={theme} />
              <Texts theme={theme} />
              <EmptyStates />
              <Waits />
              <Faults />
              <Split theme={theme} />
            </section>
          ))}
        </div>
        <Windows />
      </Column>
    </Page>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={css.part}>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

const surfaces = ['bg0', 'bg1', 'bg2', 'bg3', 'line', 'control'];
const inks = ['fg', 'fg2', 'fg3', 'accent', 'ok', 'warn', 'err'];

function Scales() {
  return (
    <Part title={say.scales}>
      <div className={css.row}>
        {surfaces.map((name) => (
          <span key={name} className={css.swatch}>
            <span style={{ background: `var(--${name})` }} />
            <code>{name}</code>
          </span>
        ))}
      </div>
      <div className={css.row}>
        {inks.map((name) => (
          <span key={name} style={{ color: `var(--${name})` }}>
            {name}
          </span>
        ))}
      </div>
      <div className={css.type}>
        {say.sizes.map(([size, use]) => (
          <span key={size} style={{ fontSize: size, lineHeight: '28px' }}>
            {size} · {use}
          </span>
        ))}
        <code>{say.mono}</code>
      </div>
    </Part>
  );
}

function Buttons() {
  return (
    <Part title={say.buttons}>
      <div className={css.row}>
        <Button look="primary">{say.primary}</Button>
        <Button>{say.plain}</Button>
        <Button look="quiet">{say.quiet}</Button>
        <Button look="danger">{say.danger}</Button>
        <Button look="link">{say.link}</Button>
      </div>
      <div className={css.row}>
        <Button look="primary" disabled>
          {say.disabled}
        </Button>
        <Button disabled>{say.disabled}</Button>
        <IconButton label={say.icon}>
          <Plus size={16} aria-hidden />
        </IconButton>
        <IconButton label={say.pressed} aria-pressed>
          <Plus size={16} aria-hidden />
        </IconButton>
        <CopyButton text={say.jsonText} label={say.copy} />
        <CopyButton text={say.jsonText} label={say.copy} wording={say.copy} />
        <Menu
          trigger={<Button>{say.menu}</Button>}
          entries={[
            { kind: 'item', label: say.open, run: nothing },
            { kind: 'rule' },
            { kind: 'item', label: say.remove, danger: true, run: nothing },
          ]}
        />
      </div>
    </Part>
  );
}

function Fields({ theme }: { theme: 'dark' | 'light' }) {
  const [name, setName] = useState('weather');
  const [on, setOn] = useState(true);
  const [view, setView] = useState<'form' | 'json'>('form');
  return (
    <Part title={say.fields}>
      <TextField label={say.name} hint={say.hint} mono value={name} onChange={setName} />
      <TextField label={say.wrong} error={say.error} value={name} onChange={setName} />
      <Field label={say.choice}>
        {(control) => (
          <select {...control} defaultValue={say.form}>
            <option>{say.form}</option>
            <option>{say.json}</option>
          </select>
        )}
      </Field>
      <Field label={say.longText}>{(control) => <textarea {...control} rows={2} defaultValue={say.lead} />}</Field>
      <Field label={say.off}>{(control) => <input {...control} disabled value={name} readOnly />}</Field>
      <div className={css.row}>
        <Check label={say.check} hint={say.hint} checked={on} onChange={setOn} />
        <Check label={say.checkOff} checked={!on} onChange={(off) => setOn(!off)} />
        <Choices
          label={`${say.view} (${say.themes[theme]})`}
          choices={[
            { value: 'form', label: say.form },
            { value: 'json', label: say.json },
          ]}
          value={view}
          onChange={setView}
        />
      </div>
    </Part>
  );
}

const statuses: RunStatus[] = [
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'blocked',
  'interrupted',
  'queued',
  'running',
  'awaiting_approval',
];

function States() {
  return (
    <Part title={say.states}>
      <div className={css.row}>
        <StateMark look="ok" icon={CircleCheck}>
          {say.succeeded}
        </StateMark>
        <StateMark look="err" icon={CircleX}>
          {say.failed}
        </StateMark>
        <StateMark look="warn" icon={Hourglass}>
          {say.waiting}
        </StateMark>
        <StateMark look="quiet" icon={CircleSlash}>
          {say.withdrawn}
        </StateMark>
      </div>
      <div className={css.row}>
        {statuses.map((status) => (
          <RunMark key={status} run={{ status }} />
        ))}
      </div>
      <div className={css.row}>
        {(['typescript', 'javascript', 'python', 'bash', 'wasm'] as const).map((language) => (
          <LanguageMark key={language} language={language} />
        ))}
      </div>
    </Part>
  );
}

function Pictures({ theme }: { theme: 'dark' | 'light' }) {
  return (
    <Part title={say.pictures}>
      <Shares
        label={`${say.shares} (${say.themes[theme]})`}
        shares={[
          { key: 'ok', label: say.current, count: 7, look: 'ok', icon: CircleCheck },
          { key: 'warn', label: say.deprecated, count: 2, look: 'warn', icon: Hourglass },
          { key: 'err', label: say.deleted, count: 1, look: 'err', icon: CircleX },
        ]}
      />
      <Shares
        label={`${say.parts} (${say.themes[theme]})`}
        shares={(['a', 'b', 'c', 'd'] as const).map((look, n) => ({ key: look, label: look, count: n + 1, look }))}
      />
      <div className={css.row}>
        <Amount value={12} most={12} />
        <Amount value={3} most={12} />
        <Amount value={0} most={12} />
        {say.people.map((name) => (
          <Avatar key={name} name={name} />
        ))}
      </div>
    </Part>
  );
}

const rows = ['weather', 'tides', 'moon', 'invoice', 'log-filter'].map((name, n) => ({ name, calls: 12 >> n }));

function Rows({ theme }: { theme: 'dark' | 'light' }) {
  return (
    <Part title={say.table}>
      <Few items={rows} most={5}>
        {(shown) => (
          <DataTable
            label={`${say.agents} (${say.themes[theme]})`}
            items={shown}
            rowKey={({ name }) => name}
            words={({ name }) => name}
            order={{ column: 'calls', descending: false }}
            faded={({ calls }) => calls === 0}
            columns={[
              { key: 'name', title: say.name, by: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
              {
                key: 'calls',
                title: say.calls,
                by: ({ calls }) => -calls,
                cell: ({ calls }) => <Amount value={calls} most={12} />,
              },
              { key: 'acts', title: say.actions, acts: true, cell: () => <Button>{say.open}</Button> },
            ]}
          />
        )}
      </Few>
    </Part>
  );
}

function Texts({ theme }: { theme: 'dark' | 'light' }) {
  return (
    <Part title={say.text}>
      <Markdown text={say.markdown} />
      <p>
        <Quoted text={say.quoted} />
      </p>
      <details>
        <Summary>{say.text}</Summary>
      </details>
      <pre>
        <JsonText text={say.jsonText} />
      </pre>
      <Tags label={`${say.tags} (${say.themes[theme]})`} tags={['finance', 'weather']} to={(tag) => `/?tag=${tag}`} />
    </Part>
  );
}

function EmptyStates() {
  return (
    <Part title={say.empty}>
      <Steps title={say.steps}>
        {say.first}
        {say.second}
      </Steps>
      <Empty actions={<Button look="primary">{say.open}</Button>}>{say.nothing}</Empty>
    </Part>
  );
}

const shapes: Shape[] = ['rows', 'table', 'cards', 'text', 'code', 'names', 'fields', 'lines'];

function Waits() {
  return (
    <Part title={say.placeholders}>
      {shapes.map((shape) => (
        <div key={shape} className={css.shape} aria-busy>
          <code>{shape}</code>
          <Skeleton shape={shape} />
        </div>
      ))}
    </Part>
  );
}

/** This query fails, so that its message is shown. */
function Faults() {
  const failed = useQuery({
    queryKey: ['components', 'failed'],
    queryFn: () => Promise.reject(new Error(say.offline)),
    retry: false,
  });
  return (
    <Part title={say.faults}>
      <Fault message={say.error} />
      <NotLoaded found={failed} why={say.notLoaded} />
      <Listed listing={{ kind: 'failed', message: say.offline, retry: nothing }} what={say.things} empty={null}>
        {() => null}
      </Listed>
      <div className={css.row}>
        <Retry onRetry={nothing} />
        <Retry look="link" onRetry={nothing} />
      </div>
    </Part>
  );
}

function Split({ theme }: { theme: 'dark' | 'light' }) {
  const [width, setWidth] = useState(160);
  return (
    <Part title={say.splitter}>
      <div className={css.split}>
        <div style={{ width }}>{say.drag}</div>
        <Splitter
          label={`${say.splitter} (${say.themes[theme]})`}
          between="column"
          value={width}
          min={80}
          max={240}
          onChange={setWidth}
        />
        <div>{say.keys}</div>
      </div>
    </Part>
  );
}

type Window = 'dialog' | 'form' | 'confirm' | 'waiting';

/** Shows components that open over the page or fill the page, in the theme of the page. */
function Windows() {
  const [open, setOpen] = useState<Window>();
  const [name, setName] = useState('weather');
  const close = (): void => setOpen(undefined);
  return (
    <section className={css.part} aria-labelledby="windows">
      <h2 id="windows">{say.windows}</h2>
      <p>{say.windowsLead}</p>
      <div className={css.row}>
        <Button onClick={() => setOpen('dialog')}>{say.dialog}</Button>
        <Button onClick={() => setOpen('form')}>{say.formDialog}</Button>
        <Button onClick={() => setOpen('confirm')}>{say.confirmDialog}</Button>
        <Button onClick={() => notify('done', say.saved, { label: say.undo, run: nothing })}>{say.doneNotice}</Button>
        <Button onClick={() => notify('failed', say.error)}>{say.failedNotice}</Button>
        <Button onClick={() => setOpen(open === 'waiting' ? undefined : 'waiting')}>{say.waitingPage}</Button>
      </div>
      {open === 'waiting' && <Waiting what={say.things} shape="page" retry />}
      {open === 'dialog' && (
        <Dialog title={say.dialog} about={say.lead} onClose={close} foot={<Button onClick={close}>{say.close}</Button>}>
          <p>{say.nothing}</p>
        </Dialog>
      )}
      {open === 'form' && (
        <FormDialog
          title={say.formDialog}
          verb={say.open}
          busy={false}
          fault={say.error}
          onSubmit={close}
          onClose={close}
        >
          <TextField label={say.name} value={name} onChange={setName} />
        </FormDialog>
      )}
      {open === 'confirm' && (
        <ConfirmDialog
          title={say.confirmDialog}
          about={say.lead}
          verb={say.remove}
          onClose={close}
          onConfirm={nothing}
        />
      )}
    </section>
  );
}
