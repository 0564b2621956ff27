import { lazy, Suspense } from 'react';
import type { Version } from '../../api/types';
import { listedPage as say } from '../../texts/registry';
import sheet from '../../ui/Sheet.module.css';
import css from './ListedPage.module.css';

const Markdown = lazy(() =>
  import('../../ui/Markdown').then(
    (m) => ({ default: m.Markdown }),
    () => ({ default: Plain }), // an unformatted text is readable too
  ),
);
// Formatting a longer text would block the page for seconds.
const most = 64 * 1024;

/** Shows the README of a version. A Markdown file is formatted, and any other file is plain text. */
export function ReadMe({ version: { files } }: { version: Version }) {
  const path = Object.keys(files).find((one) => /^readme(\.(md|txt))?$/i.test(one)) ?? '';
  const content = files[path];
  const text = typeof content === 'string' ? content.trim() : '';
  if (text === '') return null;
  return (
    <section className={sheet.section} aria-labelledby="readme">
      <h2 id="readme">{say.readMe}</h2>
      {/\.md$/i.test(path) && text.length <= most ? (
        <Suspense fallback={<Plain text={text} />}>
          <Markdown text={text} />
        </Suspense>
      ) : (
        <Plain text={text} />
      )}
    </section>
  );
}

function Plain({ text }: { text: string }) {
  return (
    <p className={css.readMe} dir="auto">
      {text}
    </p>
  );
}
