import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { ListedAgent, Version } from '../../api/types';
import { loadEditor } from '../../editor/load';
import { listedSource as say } from '../../texts/registry';
import { BinaryView } from '../../agent/BinaryView';
import css from './ListedSource.module.css';
import { listedUrl } from '../../state/registryUrl';

const lineHeight = 18;
const padding = 16;

interface Props {
  agent: ListedAgent;
  version: Version;
  file: string | undefined;
}

/** Shows the files of a version, one at a time. The files are read-only. */
export function ListedSource({ agent, version, file }: Props) {
  const paths = Object.keys(version.files).sort();
  const path = file !== undefined && paths.includes(file) ? file : version.entrypoint;
  const content = version.files[path];
  const to = (one: string): string =>
    listedUrl(agent.publisher, agent.name, {
      ...(version.version === agent.latestVersion ? {} : { version: version.version }),
      file: one,
    });
  return (
    <section className={css.section} aria-labelledby="source">
      <h2 id="source">{say.source}</h2>
      <div className={css.source}>
        <nav className={css.files} aria-label={say.files}>
          {paths.map((one) => (
            <Link key={one} href={to(one)} replace aria-current={one === path ? 'true' : undefined}>
              {one}
            </Link>
          ))}
        </nav>
        <div className={css.text}>
          {typeof content === 'string' && !path.endsWith('.wasm') ? (
            <Text path={path} text={content} />
          ) : (
            content !== undefined && <BinaryView path={path} content={content} />
          )}
        </div>
      </div>
    </section>
  );
}

/** Shows plain text until the editor is loaded, or if it cannot be loaded. */
function Text({ path, text }: { path: string; text: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let close = (): void => undefined;
    let gone = false;
    loadEditor().then(
      (kit) => {
        if (gone || !host.current) return;
        const reader = kit.createReader(host.current);
        reader.show(path, text);
        close = () => reader.dispose();
        setReady(true);
      },
      () => undefined,
    );
    return () => {
      gone = true;
      close();
    };
  }, [path, text]);
  const height = text.split('\n').length * lineHeight + padding;
  return (
    <div className={css.reader} style={{ height }} role="region" aria-label={say.contentOf(path)}>
      {!ready && <pre tabIndex={0}>{text}</pre>}
      <div ref={host} className={css.host} />
    </div>
  );
}
