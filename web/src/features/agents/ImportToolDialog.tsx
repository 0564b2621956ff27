import { useState } from 'react';
import { useLocation } from 'wouter';
import { ApiError, explain } from '../../api/http';
import { parseJson } from '../../api/json';
import { keys, queryClient, refreshAgents } from '../../api/queries';
import { importTool } from '../../api/verbs';
import { closeDialog, useCloseOwn } from '../../state/dialogs';
import { agentUrl } from '../../state/urlState';
import { importToolDialog as say } from '../../texts/agents';
import { Field } from '../../ui/Field';
import { FormDialog } from '../../ui/FormDialog';
import { languageNames } from '../../agent/starters';

const languages = ['typescript', 'javascript', 'python', 'bash'] as const;

/** Creates a draft from the definition of a tool that the user pastes. */
export function ImportToolDialog() {
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [language, setLanguage] = useState<(typeof languages)[number]>('typescript');
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const closeOwn = useCloseOwn();

  const submit = async (): Promise<void> => {
    setFault(undefined);
    let tool;
    try {
      tool = parseJson(text);
    } catch {
      setFault(say.noJson);
      return;
    }
    setBusy(true);
    try {
      const agent = await importTool({ tool, language });
      queryClient.setQueryData(keys.agent(agent.name), agent);
      void refreshAgents();
      if (closeOwn()) navigate(agentUrl(agent.name));
    } catch (error) {
      const fields = error instanceof ApiError ? error.fields : [];
      setFault(fields.length > 0 ? fields.map((f) => `${f.pointer} ${f.message}`).join(' ') : explain(error));
      setBusy(false);
    }
  };

  return (
    <FormDialog
      title={say.title}
      about={say.about}
      verb={say.verb}
      ready={text.trim() !== ''}
      busy={busy}
      onSubmit={() => void submit()}
      onClose={closeDialog}
    >
      <Field label={say.definition} hint={say.definitionHint} error={fault} mono>
        {(control) => (
          <textarea
            {...control}
            rows={10}
            autoFocus
            spellCheck={false}
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
        )}
      </Field>
      <Field label={say.language}>
        {(control) => (
          <select
            {...control}
            value={language}
            onChange={(e) => setLanguage(languages.find((l) => l === e.target.value) ?? 'typescript')}
          >
            {languages.map((l) => (
              <option key={l} value={l}>
                {languageNames[l]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  );
}
