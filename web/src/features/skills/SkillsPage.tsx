import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { explain } from '../../api/http';
import { refreshAgents, refreshSkills, useSkills } from '../../api/queries';
import { useRights } from '../../api/rights';
import type { Skill } from '../../api/types';
import { promoteSkill } from '../../api/verbs';
import { plural } from '../../app/format';
import { notify } from '../../app/noticeStore';
import { agentUrl } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { CopyButton } from '../../ui/CopyButton';
import { Waiting } from '../../ui/Empty';
import field from '../../ui/Field.module.css';
import { LanguageMark } from '../agents/LanguageMark';
import { Column, Page } from '../agents/Page';
import css from './SkillsPage.module.css';
import { UninstallDialog } from './UninstallDialog';

/** What existing clients can call by name: where each comes from, its digest, and what is wrong with its folder. */
export function SkillsPage() {
  useEffect(() => {
    document.title = 'Skills · Atelier';
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
        <h1>Skills</h1>
        <p className={css.lead}>
          Agents that lie in folders and are called by name, by <code>POST /skills/execute</code> and{' '}
          <code>/v1/skills/run</code>. A change of a folder becomes a version at once.
        </p>
        {found.data !== undefined && found.data.directory !== '' && (
          <p className={css.directory}>
            Watched: <code>{found.data.directory}</code>
          </p>
        )}
      </div>
      {found.isPending && <Waiting what="the skills" onRetry={() => void found.refetch()} />}
      {found.isError && (
        <p role="alert" className={field.failed}>
          The skills could not be loaded. {found.error.message}
        </p>
      )}
      {found.isSuccess && items.length === 0 && (
        <p className={css.lead}>
          There is no skill yet. Put a folder with skill.yaml, schema.json and a handler into the directory, or run{' '}
          <code>atelier skills install DIR</code>.
        </p>
      )}
      {broken > 0 && (
        <p role="status" className={css.broken}>
          {plural(broken, 'folder is', 'folders are')} broken. What was installed before still runs.
        </p>
      )}
      <ul className={css.list} aria-label="Skills">
        {items.map((skill) => (
          <Row key={`${skill.agentId} ${skill.name}`} skill={skill} />
        ))}
      </ul>
    </section>
  );
}

const states: Record<Skill['state'], string> = {
  active: '',
  draft: 'draft',
  active_with_draft: 'a draft waits',
  broken: 'not installed',
};
const origins: Record<Skill['origin'], string> = {
  builtin: 'built in',
  folder: 'folder',
  archive: 'archive',
  url: 'fetched',
  created: 'created by a client',
  registered: 'registered by a client',
};

function Row({ skill }: { skill: Skill }) {
  const { name, version, digest, state, origin, source, tags, problem, language, safetyFlags } = skill;
  const [asked, setAsked] = useState(false);
  const approves = useRights().may('approve');
  const act = async (verb: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await verb();
      notify('done', done);
    } catch (error) {
      notify('failed', explain(error));
    }
    await Promise.all([refreshSkills(), refreshAgents()]);
  };
  const flags = safetyFlags.filter((flag) => flag !== 'none');
  const about = [source === '' ? origins[origin] : `${origins[origin]} from ${source}`, ...flags, ...tags];
  if (skill.folderMissing) about.push('its folder is gone');
  return (
    <li className={css.row}>
      {language === undefined ? <span /> : <LanguageMark language={language} />}
      <div className={css.about}>
        <strong>
          {skill.agentId === '' ? name : <Link href={agentUrl(name)}>{name}</Link>}{' '}
          <span className={css.version}>{version}</span>
          {states[state] !== '' && <span className={css.state}>{states[state]}</span>}
        </strong>
        <p>{skill.description}</p>
        <small>{about.join(' · ')}</small>
        {digest !== '' && (
          <small className={css.digest}>
            <code>{digest.slice(0, 23)}…</code>
            <CopyButton text={digest} label={`Copy the digest of ${name}`} />
          </small>
        )}
        {problem !== undefined && <Problem problem={problem} />}
      </div>
      <div className={css.actions}>
        {approves && (state === 'draft' || state === 'active_with_draft') && (
          <Button
            look="primary"
            aria-label={`Promote ${name}`}
            onClick={() => void act(() => promoteSkill(name), `Promoted ${name}`)}
          >
            Promote
          </Button>
        )}
        {approves && skill.agentId !== '' && (
          <Button aria-label={`Uninstall ${name}`} onClick={() => setAsked(true)}>
            Uninstall…
          </Button>
        )}
      </div>
      {asked && <UninstallDialog name={name} onClose={() => setAsked(false)} />}
    </li>
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
