import { useSyncExternalStore } from 'react';
import { chooseTheme, chosenTheme, onTheme, type ThemeChoice } from '../../state/theme';
import { appearance as say } from '../../texts/settings';
import { Choices } from '../../ui/Choices';
import css from './SettingsPage.module.css';

const themes = ['system', 'dark', 'light'] as const satisfies ThemeChoice[];

export function Appearance() {
  const chosen = useSyncExternalStore(onTheme, chosenTheme);
  return (
    <>
      <p className={css.lead}>{say.about}</p>
      <div>
        <Choices
          label={say.theme}
          choices={themes.map((theme) => ({ value: theme, label: say.themes[theme] }))}
          value={chosen}
          onChange={chooseTheme}
        />
      </div>
    </>
  );
}
