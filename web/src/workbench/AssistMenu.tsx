import { Sparkles } from 'lucide-react';
import { runCommand, useHandlers } from '../state/commands';
import type { CommandId } from '../state/hotkeys';
import { assistMenu as say } from '../texts/assist';
import { IconButton } from '../ui/Button';
import { Menu, type MenuEntry } from '../ui/Menu';

const entries: [CommandId, string][] = [
  ['assist.change', say.change],
  ['assist.explain', say.explain],
  ['assist.review', say.review],
  ['assist.tests', say.tests],
  ['assist.document', say.document],
  ['assist.schemas', say.schemas],
];

/** Shows the menu of the language model, if the workspace may use one. */
export function AssistMenu() {
  const { handlers } = useHandlers();
  const offered = entries.flatMap(([id, label]): MenuEntry[] =>
    handlers[id] === undefined ? [] : [{ kind: 'item', label, later: true, run: () => runCommand(id) }],
  );
  if (offered.length === 0) return null;
  return (
    <Menu
      trigger={
        <IconButton label={say.button}>
          <Sparkles size={16} aria-hidden />
        </IconButton>
      }
      entries={offered}
    />
  );
}
