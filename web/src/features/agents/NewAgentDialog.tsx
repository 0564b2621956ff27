import { useState, type SyntheticEvent } from 'react';
import { useLocation } from 'wouter';
import { explain } from '../../api/http';
import { useCapabilities } from '../../api/queries';
import type { Language } from '../../api/types';
import { closeDialog } from '../../app/dialogs';
import { agentUrl } from '../../app/urlState';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { blankAgent, languageNames, nameFault } from './blank';
import { createFrom } from './create';
import css from './NewAgentDialog.module.css';

const languages = Object.keys(languageNames) as Language[];

export function NewAgentDialog({ name: wanted }: { name: string }) {
  const [, navigate] = useLocation();
  const capabilities = useCapabilities();
  const [name, setName] = useState(wanted);
  const [language, setLanguage] = useState<Language>('typescript');
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);

  const missing = (l: Language): string | undefined => {
    const known = capabilities.data?.languages.find((c) => c.language === l);
    return known && !known.available ? (known.reason ?? 'Not available on this server.') : undefined;
  };

  const submit = async (e: SyntheticEvent): Promise<void> => {
    e.preventDefault();
    const wrong = nameFault(name);
    setFault(wrong);
    if (wrong !== undefined) return;
    setBusy(true);
    try {
      const agent = await createFrom(blankAgent(name, language));
      closeDialog();
      navigate(agentUrl(agent.name));
    } catch (error) {
      setFault(explain(error));
      setBusy(false);
    }
  };

  return (
    <Dialog title="New agent" about="A draft of your own, with one small program to begin with." onClose={closeDialog}>
      <form id="new-agent" onSubmit={(e) => void submit(e)} style={{ display: 'contents' }}>
        <Field label="Name" error={fault} hint="It is in every reference, like weather@1.0.0." mono>
          {(control) => (
            <input
              {...control}
              autoFocus
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(e) => setName(e.target.value)}
            />
          )}
        </Field>
        <fieldset>
          <legend className={css.legend}>Language</legend>
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
        <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8 }}>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="primary" type="submit" disabled={busy}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
