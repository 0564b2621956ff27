import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keys } from '../../api/queries';
import type { Language } from '../../api/types';
import { listPackageDependencies, listPackageVersions, searchPackages } from '../../api/verbs';
import { packagesSection as say } from '../../texts/config';
import { Button } from '../../ui/Button';
import { NotLoaded } from '../../ui/NotLoaded';
import { TextField } from '../../ui/TextField';
import { Field } from '../../ui/Field';
import css from './ConfigPanel.module.css';

interface Props {
  language: Language;
  onAdd: (entry: string) => void;
}

/** Searches a package in the index by name, and adds it with a version. */
export function AddPackage({ language, onAdd }: Props) {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [name, setName] = useState('');
  const [version, setVersion] = useState('');
  const found = useQuery({
    queryKey: keys.packageSearch(language, asked),
    enabled: asked !== '',
    queryFn: () => searchPackages(language, asked),
  });
  const versions = useQuery({
    queryKey: keys.packageVersions(language, name),
    enabled: name !== '',
    queryFn: () => listPackageVersions(language, name),
  });
  const chosen = version === '' ? (versions.data?.[0] ?? '') : version;
  const choose = (next: string): void => {
    setName(next);
    setVersion('');
  };
  const add = (): void => {
    onAdd(language === 'python' ? `${name}==${chosen}` : `${name}@${chosen}`);
    setText('');
    setAsked('');
    choose('');
  };
  return (
    <div role="group" aria-label={say.addPackage}>
      <TextField
        label={say.findByName}
        hint={language === 'python' ? say.exactNames : say.partsOfNames}
        value={text}
        onChange={setText}
      />
      <div className={css.buttons}>
        <Button disabled={text.trim() === '' || found.isFetching} onClick={() => setAsked(text.trim())}>
          {say.find}
        </Button>
      </div>
      <NotLoaded found={found} why={say.notFound} />
      {found.data?.length === 0 && <p role="status">{say.noPackage(asked)}</p>}
      {found.data && found.data.length > 0 && (
        <ul className={css.secrets} aria-label={say.foundPackages}>
          {found.data.map((one) => (
            <li key={one.name}>
              <Button aria-pressed={one.name === name} onClick={() => choose(one.name)}>
                {one.name}
              </Button>
              <span className={css.hint}>{one.summary ?? one.version}</span>
            </li>
          ))}
        </ul>
      )}
      <NotLoaded found={versions} why={say.notFound} />
      {name !== '' && versions.data && (
        <>
          <Field label={say.versionOf(name)}>
            {(control) => (
              <select {...control} value={chosen} onChange={(e) => setVersion(e.target.value)}>
                {versions.data.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            )}
          </Field>
          {chosen !== '' && <Brings language={language} name={name} version={chosen} />}
          <div className={css.buttons}>
            <Button look="primary" disabled={chosen === ''} onClick={add}>
              {say.add(name)}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

/** Lists the other packages that would be installed together with a package. */
function Brings({ language, name, version }: { language: Language; name: string; version: string }) {
  const found = useQuery({
    queryKey: keys.packageDependencies(language, name, version),
    queryFn: () => listPackageDependencies(language, name, version),
  });
  if (found.isPending) return <p role="status">{say.findingBrings}</p>;
  if (!found.data) return <NotLoaded found={found} why={say.notResolved} />;
  if (found.data.length === 0) return <p className={css.hint}>{say.bringsNone}</p>;
  return (
    <>
      <p className={css.hint}>{say.brings(found.data.length)}</p>
      <ul className={css.brought} aria-label={say.bringsOf(name, version)}>
        {found.data.map((one) => (
          <li key={`${one.name} ${one.version}`}>
            {one.name} <span className={css.hint}>{one.version}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
