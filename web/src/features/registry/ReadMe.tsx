import { lazy, Suspense } from 'react';
import type { Version } from '../../api/types';
import { listedPage as say } from '../../texts/registry';
import sheet from '../../ui/Sheet.module.css';
import css from './ListedPage.module.css';

const Markdown = lazy(() =>
  import('../../ui/Markdown').then(
    (m) => ({ default: m.Markdown }),
    () => ({ default: Plain }), // it can be read without its form
  ),
);
// A longer one is no text to read here, and would keep the page busy for seconds.
const most = 64 * 1024;

/** What the author wrote for readers: Markdown with its form, all else as the text that it is. */
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
