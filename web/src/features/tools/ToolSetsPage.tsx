import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useToolSets } from '../../api/queries';
import { useRights } from '../../api/rights';
import { Column, Page } from '../../frame/Page';
import { ago } from '../../texts/format';
import { toolSets as say } from '../../texts/toolSets';
import { Button } from '../../ui/Button';
import { leaveFocus } from '../../ui/focusBack';
import { NotLoaded } from '../../ui/NotLoaded';
import { Waiting } from '../../ui/Waiting';
import entries from '../../ui/Entries.module.css';
import { ConnectDialog } from './ConnectDialog';
import { ToolSetDialog } from './ToolSetDialog';

/** All tool sets of the workspace. */
export function ToolSetsPage() {
  const found = useToolSets();
  const { mayAnywhere } = useRights();
  const [now] = useState(() => Date.now());
  const [open, setOpen] = useState<'new' | 'connect'>();
  const close = (): void => setOpen(undefined);
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  return (
    <Page>
      <Column>
        <section className={entries.section}>
          <div className={entries.head}>
            <div>
              <h1>{say.toolSets}</h1>
              <p className={entries.lead}>{say.lead(<code>/mcp/sets/NAME</code>)}</p>
            </div>
            <div className={entries.acts}>
              <Button ref={leaveFocus} onClick={() => setOpen('connect')}>
                {say.connectAll}
              </Button>
              {mayAnywhere('write') && (
                <Button ref={leaveFocus} look="primary" onClick={() => setOpen('new')}>
                  {say.newSet}
                </Button>
              )}
            </div>
          </div>
          {found.isPending && <Waiting shape="rows" what={say.theSets} retry />}
          <NotLoaded found={found} why={say.notLoaded} />
          {found.data?.length === 0 && (
            <p className={entries.lead}>{say.none(<code>atelier toolset put NAME REF…</code>)}</p>
          )}
          <ul className={entries.list} aria-label={say.toolSets}>
            {found.data?.map(({ id, name, title, description, tools, updatedAt, updatedBy }) => (
              <li key={id} className={entries.row}>
                <div className={entries.about}>
                  <strong>
                    <Link href={`/tool-sets/${encodeURIComponent(name)}`}>{title === '' ? name : title}</Link>
                  </strong>
                  {description !== '' && <small>{description}</small>}
                  <small>
                    {[title === '' ? '' : name, say.count(tools.length), say.changed(ago(updatedAt, now), updatedBy)]
                      .filter(Boolean)
                      .join(' · ')}
                  </small>
                </div>
              </li>
            ))}
          </ul>
          {open === 'new' && <ToolSetDialog taken={(found.data ?? []).map(({ name }) => name)} onClose={close} />}
          {open === 'connect' && <ConnectDialog kind="all" name="" agents={[]} onClose={close} />}
        </section>
      </Column>
    </Page>
  );
}
