import { useEffect } from 'react';
import { useAgentListing } from '../../api/listing';
import { useRights } from '../../api/rights';
import { showDialog } from '../../state/dialogs';
import { useSearch } from '../../state/search';
import { readList } from '../../state/urlState';
import { homePage as say } from '../../texts/samples';
import { Listed } from '../../ui/Listed';
import { Waiting } from '../../ui/Waiting';
import { AgentList } from './AgentList';
import { isBuiltIn } from './builtIn';
import { Column, Page } from '../../frame/Page';
import { Samples } from './Samples';

/** Shows the start page, which contains agents and samples. */
export function HomePage() {
  const text = useSearch();
  const { may, why } = useRights();
  // The query key of the list without filters, so that the list is loaded once.
  const anything = useAgentListing({ order: 'updated' });
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const narrowed = readList(text);
  const looking = Object.keys(narrowed).length > 0;
  const unknown = anything.kind === 'waiting' && !looking;
  const failed = anything.kind === 'failed' && !looking;
  const empty = anything.kind === 'loaded' && anything.items.length === 0;
  const newcomer = anything.kind === 'loaded' && anything.items.every(isBuiltIn);
  const offered = !looking && may('write');
  return (
    <Page>
      <Column {...(may('approve') ? { onDrop: (file) => showDialog({ kind: 'import', file }) } : {})}>
        {offered && newcomer && <Samples first />}
        {unknown ? (
          <Waiting shape="page" what={say.theAgents} retry />
        ) : failed ? (
          // Shows the error without AgentList. AgentList would load its data again when it appears, and the loading
          // state would then remove it.
          <section>
            <h1>{say.agents}</h1>
            <Listed listing={anything} what={say.theAgents} empty={null}>
              {() => null}
            </Listed>
          </section>
        ) : (
          (!empty || looking) && <AgentList narrowed={narrowed} second={offered && newcomer} />
        )}
        {offered && !newcomer && <Samples first={false} />}
        {empty && !looking && !may('write') && <p>{say.noAgent(why('write'))}</p>}
      </Column>
    </Page>
  );
}
