import { CircleCheck, CircleSlash, CircleX, Hourglass, Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Column, Page } from '../../frame/Page';
import { componentsPage as say } from '../../texts/components';
import { Button, IconButton } from '../../ui/Button';
import { Choices } from '../../ui/Choices';
import { CopyButton } from '../../ui/CopyButton';
import { DataTable } from '../../ui/DataTable';
import { Empty } from '../../ui/Empty';
import { Fault } from '../../ui/Fault';
import { Check } from '../../ui/Field';
import { JsonText } from '../../ui/JsonText';
import { Markdown } from '../../ui/Markdown';
import { Menu } from '../../ui/Menu';
import { Skeleton } from '../../ui/Skeleton';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { TextField } from '../../ui/TextField';
import css from './ComponentsPage.module.css';

/** Every part of the Studio in both themes, for development. */
export function ComponentsPage() {
  return (
    <Page>
      <Column wide>
        <div>
          <h1>{say.title}</h1>
          <p>{say.lead}</p>
        </div>
        <div className={css.themes}>
          {(['dark', 'light'] as const).map((theme) => (
            <div key={theme} className={css.theme} data-theme={theme}>
              <h2>{say.themes[theme]}</h2>
              <Buttons />
              <Fields />
              <States />
              <Rows />
              <Texts />
              <EmptyStates />
            </div>
          ))}
        </div>
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

function Buttons() {
  return (
    <Part title={say.buttons}>
      <div className={css.row}>
        <Button look="primary">{say.primary}</Button>
        <Button>{say.plain}</Button>
        <Button look="quiet">{say.quiet}</Button>
        <Button look="danger">{say.danger}</Button>
        <Button look="link">{say.link}</Button>
        <Button disabled>{say.disabled}</Button>
        <IconButton label={say.icon}>
          <Plus size={16} aria-hidden />
        </IconButton>
        <CopyButton text={say.jsonText} label={say.copy} />
        <Menu
          trigger={<Button>{say.menu}</Button>}
          entries={[
            { kind: 'item', label: say.open, run: () => undefined },
            { kind: 'rule' },
            { kind: 'item', label: say.remove, danger: true, run: () => undefined },
          ]}
        />
      </div>
    </Part>
  );
}

function Fields() {
  const [name, setName] = useState('weather');
  const [on, setOn] = useState(true);
  const [view, setView] = useState<'form' | 'json'>('form');
  return (
    <Part title={say.fields}>
      <TextField label={say.name} hint={say.hint} mono value={name} onChange={setName} />
      <TextField label={say.wrong} error={say.error} value={name} onChange={setName} />
      <div className={css.row}>
        <Check label={say.check} checked={on} onChange={setOn} />
        <Choices
          label={say.view}
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
      <Fault message={say.error} />
    </Part>
  );
}

const rows = [
  { name: 'weather', calls: 12 },
  { name: 'tides', calls: 3 },
];

function Rows() {
  return (
    <Part title={say.table}>
      <DataTable
        label={say.agents}
        items={rows}
        rowKey={({ name }) => name}
        columns={[
          { key: 'name', title: say.name, by: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
          { key: 'calls', title: say.calls, by: ({ calls }) => -calls, cell: ({ calls }) => calls },
        ]}
      />
    </Part>
  );
}

function Texts() {
  return (
    <Part title={say.text}>
      <Markdown text={say.markdown} />
      <pre>
        <JsonText text={say.jsonText} />
      </pre>
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
      <div aria-busy>
        <Skeleton shape="rows" />
      </div>
    </Part>
  );
}
