import { useState } from 'react';
import { deleteRunView, mostViews, saveRunView, useRunViews } from '../../state/runViews';
import { runViews as say } from '../../texts/runs';
import { Button } from '../../ui/Button';
import { Menu, type MenuEntry } from '../../ui/Menu';
import { NameDialog } from './NameDialog';
import { readRuns, runsUrl, type RunsState } from './runsState';

interface Props {
  state: RunsState;
  onOpen: (state: RunsState) => void;
}

/** The views that exist for every user. */
const ready: { name: string; state: RunsState }[] = [
  { name: say.failedToday, state: { status: 'failed', range: '24h' } },
  { name: say.timedOutThisWeek, state: { status: 'timed_out', range: '7d' } },
  { name: say.now, state: { status: 'running' } },
];

const queryOf = (state: RunsState): string => runsUrl(state).split('?')[1] ?? '';

/** Lists named filters of the run list. The user can open, save and delete a filter. */
export function RunViews({ state, onOpen }: Props) {
  const views = useRunViews();
  const [naming, setNaming] = useState(false);
  const query = queryOf(state);
  const current =
    views.find((view) => view.query === query)?.name ?? ready.find((view) => queryOf(view.state) === query)?.name;
  const full = views.length >= mostViews;
  const entries: MenuEntry[] = [
    ...ready.map((view): MenuEntry => ({ kind: 'item', label: view.name, run: () => onOpen(view.state) })),
    { kind: 'rule' },
    ...views.map((view): MenuEntry => ({ kind: 'item', label: view.name, run: () => onOpen(readRuns(view.query)) })),
    ...(views.length > 0 ? [{ kind: 'rule' } as const] : []),
    {
      kind: 'item',
      label: say.saveThisView,
      why: query === '' ? say.nothingToSave : full ? say.full(mostViews) : undefined,
      later: true,
      run: () => setNaming(true),
    },
    ...views.map((view): MenuEntry => ({
      kind: 'item',
      label: say.deleteView(view.name),
      danger: true,
      run: () => deleteRunView(view.name),
    })),
  ];
  return (
    <>
      <Menu trigger={<Button>{say.views(current)}</Button>} entries={entries} />
      {naming && (
        <NameDialog
          say={say}
          taken={views.map(({ name }) => name)}
          onSave={(name) => {
            setNaming(false);
            saveRunView({ name, query });
          }}
          onClose={() => setNaming(false)}
        />
      )}
    </>
  );
}
