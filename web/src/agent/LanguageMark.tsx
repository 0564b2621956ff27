import type { Language } from '../api/types';
import css from './LanguageMark.module.css';
import { languageNames } from './starters';

const marks: Record<Language, string> = { typescript: 'TS', javascript: 'JS', python: 'PY', bash: 'SH', wasm: 'WA' };

/** Shows a two-letter language mark, and the full name to screen readers. */
export function LanguageMark({ language }: { language: Language }) {
  return (
    <span className={css.mark} title={languageNames[language]}>
      <span aria-hidden>{marks[language]}</span>
      <span className="visually-hidden">{languageNames[language]}</span>
    </span>
  );
}
