import { useSyncExternalStore } from 'react';
import { chooseTheme, chosenTheme, onTheme, type ThemeChoice } from '../../state/theme';
import { appearance as say } from '../../texts/settings';
import { Choices } from '../../ui/Choices';
import css from './SettingsPage.module.css';
import look from './Appearance.module.css';

const themes = ['system', 'dark', 'light'] as const satisfies ThemeChoice[];

export function Appearance() {
  const chosen = useSyncExternalStore(onTheme, chosenTheme);
  return (
    <>
      <p className={css.lead}>{say.about}</p>
      <div>
        <Choices
          label={say.theme}
          choices={themes.map((theme) => ({
            value: theme,
            label: say.themes[theme],
            picture: <Picture theme={theme} />,
          }))}
          value={chosen}
          onChange={chooseTheme}
        />
      </div>
    </>
  );
}

/** Draws a small picture of the Studio in a theme. The picture for the system's theme shows both themes. */
function Picture({ theme }: { theme: ThemeChoice }) {
  return (
    <span className={look.picture} aria-hidden>
      {(theme === 'system' ? (['dark', 'light'] as const) : [theme]).map((half) => (
        <span key={half} className={look.window} data-theme={half}>
          <span className={look.side} />
          <span className={look.code}>
            <i />
            <i />
            <i />
            <i />
          </span>
        </span>
      ))}
    </span>
  );
}
