import { useState, type SyntheticEvent } from 'react';
import { useLocation } from 'wouter';
import { ApiError, explain } from '../../api/http';
import { useCapabilities } from '../../api/queries';
import type { Language } from '../../api/types';
import { closeDialog, useCloseOwn } from '../../state/dialogs';
import { agentUrl } from '../../state/urlState';
import { common } from '../../texts/common';
import { newAgentDialog as say } from '../../texts/agents';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { TextField } from '../../ui/TextField';
import { bytes } from '../../texts/format';
import { moduleFault, readModule } from '../../agent/wasmModule';
import { ModuleInput } from '../../agent/ModuleInput';
import { blankAgent, languageNames, nameFault, type Starter } from '../../agent/starters';
import { createFrom } from '../../agent/create';
import css from './NewAgentDialog.module.css';
import { OtherStarts } from './OtherStarts';

const languages = Object.keys(languageNames) as Language[];

export function NewAgentDialog({ name: wanted }: { name: string }) {
  const [, navigate] = useLocation();
  const capabilities = useCapabilities();
  const [name, setName] = useState(wanted);
  const [language, setLanguage] = useState<Language>('typescript');
  const [module, setModule] = useState<File>();
  const [fault, setFault] = useState<string>();
  const [moduleError, setModuleError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const closeOwn = useCloseOwn();

  const missing = (l: Language): string | undefined => {
    const known = capabilities.data?.languages.find((c) => c.language === l);
    return known && !known.available ? (known.reason ?? say.notAvailableOnThisServer) : undefined;
  };

  const submit = async (e: SyntheticEvent): Promise<void> => {
    e.preventDefault();
    const wrong = nameFault(name);
    const unfit = language === 'wasm' ? moduleFault(module) : undefined;
    setFault(wrong);
    setModuleError(unfit);
    if (wrong !== undefined || unfit !== undefined) return;
    setBusy(true);
    try {
      const agent = await createFrom(blankAgent(name, await beginning(language, module)));
      if (closeOwn()) navigate(agentUrl(agent.name));
    } catch (error) {
      if (language === 'wasm' && error instanceof ApiError && error.fields.length > 0) {
        setModuleError(error.fields.map((field) => field.message).join(' '));
      } else {
        setFault(explain(error));
      }
      setBusy(false);
    }
  };

  return (
    <Dialog
      medium
      title={say.newAgent}
      about={say.newAgentAbout}
      onClose={closeDialog}
      foot={
        <>
          <Button onClick={closeDialog}>{common.cancel}</Button>
          <Button look="primary" type="submit" form="new-agent" disabled={busy}>
            {say.create}
          </Button>
        </>
      }
    >
      <form id="new-agent" onSubmit={(e) => void submit(e)} style={{ display: 'contents' }}>
        <TextField label={say.name} error={fault} hint={say.nameHint} mono autoFocus value={name} onChange={setName} />
        <fieldset>
          <legend className={css.legend}>{say.language}</legend>
          <div className={css.languages}>
            {languages.map((l) => (
              <label key={l} title={missing(l)}>
                <input
                  type="radio"
                  name="language"
                  checked={l === language}
                  disabled={missing(l) !== undefined}
                  onChange={() => setLanguage(l)}
                />
                {languageNames[l]}
              </label>
            ))}
          </div>
        </fieldset>
        {language === 'wasm' && (
          <div className={css.module}>
            <ModuleInput
              label={say.chooseAModule}
              onChoose={(file) => {
                setModule(file);
                setModuleError(file && moduleFault(file));
              }}
            />
            <span>{module ? `${module.name}, ${bytes(module.size)}` : say.aWasiCommandOfUp}</span>
            {moduleError !== undefined && (
              <p role="alert" className={css.error}>
                {moduleError}
              </p>
            )}
          </div>
        )}
      </form>
      <OtherStarts name={name} />
    </Dialog>
  );
}

async function beginning(language: Language, module: File | undefined): Promise<Starter> {
  if (language !== 'wasm') return { language };
  if (!module) throw new Error(say.noModuleWasChosen);
  return { language, module: await readModule(module) };
}
