import { useEffect, useState, type ReactNode } from 'react';
import { explain } from '../../api/http';
import type { FileContent, Finding, Module, ModuleFunction } from '../../api/types';
import { validate } from '../../api/verbs';
import { Waiting } from '../../ui/Waiting';
import { moduleView as say } from '../../texts/files';
import { bytes } from '../../texts/format';
import { useOpenAgent } from '../../agent/openAgent';
import { moduleFault, readModule } from '../../agent/wasmModule';
import { ModuleInput } from '../../agent/ModuleInput';
import css from './ModuleView.module.css';

type Looked =
  | { kind: 'looking' }
  | { kind: 'seen'; module: Module | undefined; errors: Finding[] }
  | { kind: 'failed'; message: string };

/** Shows the imports and exports of a WebAssembly module, and a button to replace the module. */
export function ModuleView({ path, content }: { path: string; content: FileContent }) {
  const { session } = useOpenAgent();
  const [looked, setLooked] = useState<Looked>({ kind: 'looking' });
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    const aborted = new AbortController();
    setLooked({ kind: 'looking' });
    validate({ language: 'wasm', files: { [path]: content }, entrypoint: path }, aborted.signal).then(
      ({ module, errors }) => setLooked({ kind: 'seen', module, errors }),
      (error: unknown) => !aborted.signal.aborted && setLooked({ kind: 'failed', message: explain(error) }),
    );
    return () => aborted.abort();
  }, [path, content]);

  const replace = async (file: File | undefined): Promise<void> => {
    const wrong = moduleFault(file);
    setFault(wrong);
    if (!file || wrong !== undefined) return;
    try {
      session?.setFile(path, await readModule(file));
    } catch (error) {
      setFault(explain(error));
    }
  };

  return (
    <div className={css.view}>
      <header className={css.head}>
        <h2>{path}</h2>
        {looked.kind === 'seen' && looked.module && <span>{bytes(looked.module.bytes)}</span>}
        {session && <ModuleInput label={say.replace} onChoose={(file) => void replace(file)} />}
      </header>
      {fault !== undefined && (
        <p role="alert" className={css.error}>
          {fault}
        </p>
      )}
      <Body looked={looked} />
    </div>
  );
}

function Body({ looked }: { looked: Looked }): ReactNode {
  switch (looked.kind) {
    case 'looking':
      return <Waiting shape="text" what={say.looking} />;
    case 'failed':
      return <p className={css.error}>{say.notLookedAt(looked.message)}</p>;
    case 'seen':
      return (
        <>
          {looked.errors.map(({ message }) => (
            <p role="alert" key={message} className={css.error}>
              {message}
            </p>
          ))}
          {looked.module && (
            <>
              <p className={css.about}>{say.about}</p>
              <Functions title={say.imports} list={looked.module.imports} none={say.noImports} />
              <Functions title={say.exports} list={looked.module.exports} none={say.noExports} />
            </>
          )}
        </>
      );
  }
}

function Functions({ title, list, none }: { title: string; list: ModuleFunction[]; none: string }) {
  return (
    <section aria-label={title}>
      <h3 className={css.title}>
        {title} <small>{list.length}</small>
      </h3>
      {list.length === 0 ? (
        <p className={css.about}>{none}</p>
      ) : (
        <ul className={css.list}>
          {list.map((f) => (
            <li key={`${f.module ?? ''}.${f.name}`}>
              <code>
                {f.module !== undefined && <span className={css.from}>{f.module}.</span>}
                {f.name}
              </code>
              <code className={css.type}>{f.type}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
