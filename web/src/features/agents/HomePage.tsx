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
import { Column, Page } from '../../frame/Page';
import { Samples } from './Samples';

/** Where everyone begins: what there is, and what to begin with. */
export function HomePage() {
  const text = useSearch();
  const { may, why } = useRights();
  // The same list that is shown when nothing narrows it, so that it is asked for once.
  const anything = useAgentListing({ order: 'updated' });
  useEffect(() => {
    document.title = say.pageTitle;
  }, []);
  const narrowed = readList(text);
  const looking = Object.keys(narrowed).length > 0;
  const unknown = anything.kind === 'waiting' && !looking;
  const failed = anything.kind === 'failed' && !looking;
  const empty = anything.kind === 'loaded' && anything.items.length === 0;
  return (
    <Page>
      <Column {...(may('approve') ? { onDrop: (file) => showDialog({ kind: 'import', file }) } : {})}>
        {unknown ? (
          <Waiting shape="page" what={say.theAgents} retry />
        ) : failed ? (
          // The list would ask again as soon as it is there, and that it waits would take it away.
          <section>
            <h1>{say.agents}</h1>
            <Listed listing={anything} what={say.theAgents} empty={null}>
              {() => null}
            </Listed>
          </section>
        ) : (
          (!empty || looking) && <AgentList narrowed={narrowed} />
        )}
        {!looking && may('write') && <Samples first={empty} />}
        {empty && !looking && !may('write') && <p>{say.noAgent(why('write'))}</p>}
      </Column>
    </Page>
  );
}
