import { Command as Cmdk } from 'cmdk';
import { Dialog } from 'radix-ui';
import { useDeferredValue, useLayoutEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { palette as say } from '../texts/app';
import { giveBack, pathOfFocus } from '../ui/focusBack';
import { useAgentListing } from '../api/listing';
import { useBound } from '../state/bindings';
import { isMac, runCommand, useHandlers } from '../state/commands';
import { closeDialog } from '../state/dialogs';
import { showKeys } from '../state/hotkeys';
import { DialogNotices } from '../ui/Notices';
import css from './Palette.module.css';
import { usePlaces } from '../state/editorPlaces';
import { agentUrl } from '../state/urlState';
import { clearPaletteStart, usePaletteStart } from './paletteStart';

/** Shows the command palette, which contains commands, agents and files. */
export function Palette({ scope }: { scope: 'all' | 'places' }) {
  const [start] = useState(usePaletteStart.getState);
  useLayoutEffect(() => clearPaletteStart(), []);
  const [typed, setTyped] = useState(start.typed);
  const agents = useAgentListing({ search: useDeferredValue(typed), order: 'updated' });
  const { handlers } = useHandlers();
  const { places } = usePlaces();
  const [, navigate] = useLocation();
  const all = useBound();
  const [before] = useState(() => start.before ?? pathOfFocus());
  const picked = useRef<() => void>(undefined);
  const pick = (run: () => void) => () => {
    picked.current = run;
    closeDialog();
  };
  // The selected command may open a dialog. When that dialog closes, the focus returns to the element that had the
  // focus before the palette.
  const end = (e: Event): void => {
    e.preventDefault();
    giveBack(before);
    if (picked.current) queueMicrotask(picked.current);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && closeDialog()}>
      <Dialog.Portal>
        <Dialog.Overlay className={css.veil} />
        <Dialog.Content aria-label={say.commandPalette} aria-describedby={undefined} onCloseAutoFocus={end}>
          <Cmdk label={say.commandPalette} className={css.palette}>
            <Cmdk.Input
              autoFocus
              value={typed}
              onValueChange={setTyped}
              placeholder={scope === 'all' ? say.typeAnything : say.typeAPlace}
            />
            <Cmdk.List className={css.list}>
              <Cmdk.Empty>{say.nothingMatches}</Cmdk.Empty>
              {scope === 'all' && (
                <Cmdk.Group heading={say.commands}>
                  {all
                    .filter((c) => handlers[c.id] !== undefined && c.id !== 'palette')
                    .map((c) => (
                      <Cmdk.Item key={c.id} value={c.title} onSelect={pick(() => runCommand(c.id))}>
                        {c.title}
                        {c.keys !== undefined && <kbd>{showKeys(c.keys, isMac)}</kbd>}
                      </Cmdk.Item>
                    ))}
                </Cmdk.Group>
              )}
              {places.length > 0 && (
                <Cmdk.Group heading={say.files}>
                  {places.map((place) => (
                    <Cmdk.Item key={place.label} value={`file ${place.label}`} onSelect={pick(place.open)}>
                      {place.label}
                    </Cmdk.Item>
                  ))}
                </Cmdk.Group>
              )}
              <Cmdk.Group heading={say.agents}>
                {(agents.kind === 'loaded' ? agents.items : []).map((a) => (
                  <Cmdk.Item
                    key={a.id}
                    value={`agent ${a.name} ${a.title}`}
                    keywords={[a.description, ...a.tags]}
                    onSelect={pick(() => navigate(agentUrl(a.name)))}
                  >
                    {a.name}
                    <span>{a.title}</span>
                  </Cmdk.Item>
                ))}
              </Cmdk.Group>
            </Cmdk.List>
          </Cmdk>
          <DialogNotices />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
