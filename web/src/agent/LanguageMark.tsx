import type { Language } from '../api/types';
import css from './LanguageMark.module.css';
import { languageNames } from './starters';

const marks: Record<Language, string> = { typescript: 'TS', javascript: 'JS', python: 'PY', bash: 'SH', wasm: 'WA' };

/** Two letters for a language; the whole name for who cannot see them. */
export function LanguageMark({ language }: { language: Language }) {
  return (
    <span className={css.mark} title={languageNames[language]}>
      <span aria-hidden>{marks[language]}</span>
      <span className="visually-hidden">{languageNames[language]}</span>
    </span>
  );
}
