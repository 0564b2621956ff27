import { FolderX, Hourglass, TriangleAlert, type LucideIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../api/http';
import { refreshAgents, refreshSkills, useSkills } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Skill } from '../../api/types';
import { promoteSkill } from '../../api/verbs';
import { notify } from '../../state/notices';
import { agentUrl } from '../../state/urlState';
import { skillsPage as say } from '../../texts/skills';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { DataTable, type TableColumn } from '../../ui/DataTable';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { StateMark } from '../../ui/StateMark';
import { Steps } from '../../ui/Steps';
import { Waiting } from '../../ui/Waiting';
import { LanguageMark } from '../../agent/LanguageMark';
import { Column, Page } from '../../frame/Page';
import css from './SkillsPage.module.css';
import { UninstallDialog } from './UninstallDialog';

/** Lists the installed skills with name, source, digest and the problems of the skills folder. */
export function SkillsPage() {
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <Skills />
      </Column>
    </Page>
  );
}

function Skills() {
  const found = useSkills();
  const items = found.data?.items ?? [];
  const broken = items.filter((skill) => skill.problem !== undefined).length;
  return (
    <section className={css.section}>
      <div>
        <h1>{say.skills}</h1>
        <p className={css.lead}>{say.lead}</p>
        {found.data !== undefined && found.data.directory !== '' && (
          <p className={css.directory}>
            <span>{say.watched(<code>{found.data.directory}</code>)}</span>
            <CopyButton text={found.data.directory} label={say.copyTheFolder} />
          </p>
        )}
      </div>
      {found.isPending && <Waiting shape="rows" what={say.theSkills} retry />}
      <NotLoaded found={found} why={say.notLoaded} />
      {found.isSuccess && items.length === 0 && (
        <Steps title={say.noneYet}>
          <>
            {say.makeAFolder}
            <div className={css.example}>
              <pre role="region" aria-label={say.exampleCommands}>
                {say.example(found.data.directory)}
              </pre>
              <CopyButton text={say.example(found.data.directory)} label={say.copyTheCommands} />
            </div>
          </>
          <>{say.putItThere(<code>{found.data.directory}</code>, <code>atelier skills install DIR</code>)}</>
          <>
            {say.callIt}
            <div className={css.example}>
              <pre>{say.exampleCall}</pre>
              <CopyButton text={say.exampleCall} label={say.copyTheCall} />
            </div>
          </>
        </Steps>
      )}
      {broken > 0 && (
        <p role="status">
          <StateMark look="warn" icon={TriangleAlert}>
            {say.broken(broken)}
          </StateMark>
        </p>
      )}
      {items.length > 0 && (
        <DataTable
          label={say.skills}
          items={items}
          columns={columns}
          rowKey={({ agentId, name }) => `${agentId} ${name}`}
          words={({ name, description, origin, source, tags }) =>
            [name, description, origins[origin], source, ...tags].join(' ')
          }
        />
      )}
    </section>
  );
}

const states: Record<Skill['state'], string> = {
  active: '',
  draft: 'draft',
  active_with_draft: say.aDraftWaits,
  broken: say.notInstalled,
};
const origins: Record<Skill['origin'], string> = {
  builtin: say.builtIn,
  folder: say.folder,
  archive: say.archive,
  url: say.fetched,
  created: say.createdByAClient,
  registered: say.registeredByAClient,
  registry: say.fromTheRegistry,
};

const columns: TableColumn<Skill>[] = [
  { key: 'name', title: say.name, by: ({ name }) => name, cell: (skill) => <About skill={skill} /> },
  { key: 'version', title: say.version, by: ({ version }) => version, cell: (skill) => <Version skill={skill} /> },
  {
    key: 'source',
    title: say.source,
    by: ({ origin }) => origins[origin],
    cell: ({ origin, source, folderMissing }) => (
      <>
        {source === '' ? origins[origin] : say.from(origins[origin], source)}
        {folderMissing && <State icon={FolderX}>{say.itsFolderIsGone}</State>}
      </>
    ),
  },
  { key: 'acts', title: say.actions, acts: true, cell: (skill) => <Actions skill={skill} /> },
];

function State({ icon, children }: { icon: LucideIcon; children: string }) {
  return (
    <div>
      <StateMark look="warn" icon={icon}>
        {children}
      </StateMark>
    </div>
  );
}

function About({ skill: { name, agentId, description, language, problem, safetyFlags, tags } }: { skill: Skill }) {
  const flags = safetyFlags.filter((flag) => flag !== 'none');
  return (
    <div className={css.about}>
      <span className={css.mark}>{language !== undefined && <LanguageMark language={language} />}</span>
      <div>
        <strong>{agentId === '' ? name : <Link href={agentUrl(name)}>{name}</Link>}</strong>
        <p>{description}</p>
        <small>{[...flags, ...tags].join(' · ')}</small>
        {problem !== undefined && <Problem problem={problem} />}
      </div>
    </div>
  );
}

function Version({ skill: { name, version, state, digest } }: { skill: Skill }) {
  return (
    <>
      {version}
      {states[state] !== '' && <State icon={state === 'broken' ? TriangleAlert : Hourglass}>{states[state]}</State>}
      {digest !== '' && (
        <span className={css.digest}>
          <code>{digest.slice(0, 15)}…</code>
          <CopyButton text={digest} label={say.copyTheDigestOf(name)} />
        </span>
      )}
    </>
  );
}

function Actions({ skill: { name, agentId, state } }: { skill: Skill }) {
  const [asked, setAsked] = useState(false);
  const approves = useRights().may('approve');
  const promote = async (): Promise<void> => {
    try {
      await promoteSkill(name);
      notify('done', say.promoted(name));
    } catch (error) {
      notify('failed', explain(error));
    }
    await Promise.all([refreshSkills(), refreshAgents()]);
  };
  if (!approves) return null;
  return (
    <div>
      {(state === 'draft' || state === 'active_with_draft') && (
        <Button ref={leaveFocus} look="primary" aria-label={say.promote(name)} onClick={() => void promote()}>
          {say.promoteButton}
        </Button>
      )}
      {agentId !== '' && (
        <Button aria-label={say.uninstall(name)} onClick={() => setAsked(true)}>
          {say.uninstallButton}
        </Button>
      )}
      {asked && <UninstallDialog name={name} onClose={() => setAsked(false)} />}
    </div>
  );
}

function Problem({ problem }: { problem: NonNullable<Skill['problem']> }) {
  return (
    <div className={css.problem}>
      <p>{problem.message}</p>
      <ul>
        {problem.details.map((d) => (
          <li key={`${d.file ?? ''}:${d.line ?? 0} ${d.message}`}>
            <code>{d.line === undefined ? d.file : `${d.file ?? ''}:${d.line}`}</code> {d.message}
          </li>
        ))}
      </ul>
    </div>
  );
}
