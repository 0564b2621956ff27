import { useState } from 'react';
import { parseJson, type Json } from '../../api/json';
import { notify } from '../../state/notices';
import type { InputState } from '../../schema/form/input';
import { savedInputs as say } from '../../texts/run';
import { Button } from '../../ui/Button';
import { Menu, type MenuEntry } from '../../ui/Menu';
import { useOpenAgent } from '../../agent/openAgent';
import { mostBytes, savedInputs, withInputs } from '../../agent/savedInputs';
import { NameDialog } from './NameDialog';

interface Props {
  input: InputState;
  onLoad: (value: Json) => void;
}

/** Lists named inputs of the agent. The user can load, save and delete an input. */
export function SavedInputs({ input, onLoad }: Props) {
  const { about, session } = useOpenAgent();
  const saved = savedInputs(about.metadata);
  const [naming, setNaming] = useState(false);
  const names = Object.keys(saved);
  const change = (next: typeof saved): void => {
    const metadata = withInputs(about.metadata, next);
    if (metadata) session?.editAbout({ metadata });
    else notify('failed', say.noRoom(mostBytes));
  };
  const save = (name: string): void => {
    setNaming(false);
    change({ ...saved, [name]: input.text });
  };
  const entries: MenuEntry[] = [
    ...names.map((name): MenuEntry => ({
      kind: 'item',
      label: name,
      run: () => onLoad(parseJson(saved[name] ?? '{}')),
    })),
    ...(names.length > 0 ? [{ kind: 'rule' } as const] : []),
    {
      kind: 'item',
      label: say.saveThisInput,
      why: session === undefined ? say.readOnly : input.fault === undefined ? undefined : say.notJsonYet,
      later: true,
      run: () => setNaming(true),
    },
    ...(session === undefined ? [] : names).map((name): MenuEntry => ({
      kind: 'item',
      label: say.forget(name),
      danger: true,
      run: () => change(Object.fromEntries(Object.entries(saved).filter(([n]) => n !== name))),
    })),
  ];
  return (
    <>
      <Menu trigger={<Button look="link">{say.savedInputs(names.length)}</Button>} entries={entries} />
      {naming && <NameDialog say={say} taken={names} onSave={save} onClose={() => setNaming(false)} />}
    </>
  );
}
