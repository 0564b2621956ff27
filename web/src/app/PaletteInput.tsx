import { useLayoutEffect, useState } from 'react';
import { palette as say } from '../texts/app';
import { giveBack, pathOfFocus } from '../ui/focusBack';
import { closeDialog } from '../state/dialogs';
import css from './Palette.module.css';
import { clearPaletteStart, usePaletteStart } from './paletteStart';

/**
 * Shows the input of the command palette while the rest of the palette is loaded. Otherwise the typed keys would go to
 * the editor.
 */
export function PaletteInput({ scope }: { scope: 'all' | 'places' }) {
  const [before] = useState(pathOfFocus);
  const { typed } = usePaletteStart();
  useLayoutEffect(() => usePaletteStart.setState({ before }), [before]);
  return (
    <>
      <div className={css.veil} />
      <div role="dialog" aria-label={say.commandPalette} className={css.palette}>
        <input
          autoFocus
          aria-label={say.commandPalette}
          value={typed}
          placeholder={scope === 'all' ? say.typeAnything : say.typeAPlace}
          onChange={(e) => usePaletteStart.setState({ typed: e.target.value })}
          onKeyDown={(e) => {
            if (e.key === 'Tab') e.preventDefault();
            if (e.key !== 'Escape') return;
            clearPaletteStart();
            closeDialog();
            queueMicrotask(() => giveBack(before));
          }}
        />
      </div>
    </>
  );
}
