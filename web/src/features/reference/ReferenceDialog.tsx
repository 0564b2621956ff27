import { useState } from 'react';
import type { Language } from '../../api/types';
import gojaTypes from '../../editor/goja.d.ts.txt?raw';
import programTypes from '../../editor/program.d.ts.txt?raw';
import pythonTypes from '../../editor/python/program.pyi.txt?raw';
import { closeDialog } from '../../state/dialogs';
import { common } from '../../texts/common';
import { reference as say } from '../../texts/reference';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { TextField } from '../../ui/TextField';
import { entriesOf, found } from './entries';
import css from './ReferenceDialog.module.css';

const javascript = `${programTypes}\n\n${gojaTypes}`;
const sources: Record<Language, string> = {
  typescript: javascript,
  javascript,
  python: pythonTypes,
  bash: '',
  wasm: '',
};

/** Shows the reference of ctx and the runtime. It is made from the types with which the editor checks programs. */
export function ReferenceDialog({ language }: { language: Language }) {
  const [search, setSearch] = useState('');
  const entries = found(entriesOf(sources[language]), search);
  const contract = say.contract[language];
  return (
    <Dialog
      wide
      title={say.title}
      about={say.about[language]}
      onClose={closeDialog}
      foot={<Button onClick={closeDialog}>{common.done}</Button>}
    >
      <dl className={css.contract}>
        {contract.map(([term, text]) => (
          <div key={term}>
            <dt>
              <code>{term}</code>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {sources[language] !== '' && (
        <>
          <TextField label={say.search} value={search} onChange={setSearch} />
          {entries.length === 0 && <p>{say.nothing(search)}</p>}
          {entries.map(({ name, about, code }, n) => (
            <section key={`${name} ${n}`} className={css.entry}>
              <h3>{name}</h3>
              {about !== '' && <p>{about}</p>}
              <pre tabIndex={0}>{code}</pre>
            </section>
          ))}
        </>
      )}
    </Dialog>
  );
}
