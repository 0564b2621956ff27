import { Plus, X } from 'lucide-react';
import { Fragment, useState } from 'react';
import { environmentSection as say } from '../../texts/config';
import { Button, IconButton } from '../../ui/Button';
import { leaveFocus } from '../../ui/focusBack';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import css from './ConfigPanel.module.css';
import { environmentFault, sameEnvironment, toEnvironment, variableFault, type Variable } from './environment';
import { Plain } from './Plain';
import { Section } from './Section';

/** Edits the environment variables of the program. Their values are not secret. */
export function EnvironmentSection() {
  const { fields, save, session } = useOpenAgent();
  const { environment } = fields;
  const count = Object.keys(environment).length;
  const [rows, setRows] = useState<Variable[]>(() => rowsOf(environment));
  // Discard the typed rows if the draft was replaced.
  if (
    !sameEnvironment(toEnvironment(rows), environment) &&
    !rows.some((_, i) => variableFault(rows, i) !== undefined)
  ) {
    setRows(rowsOf(environment));
  }
  const change = (next: Variable[]): void => {
    setRows(next);
    session?.editDraft({ environment: toEnvironment(next) });
  };
  const edit = (id: number, part: Partial<Variable>): void =>
    change(rows.map((r) => (r.id === id ? { ...r, ...part } : r)));
  const add = (): void => setRows([...rows, { id: Math.max(0, ...rows.map((r) => r.id)) + 1, name: '', value: '' }]);
  const fault = environmentFault(rows) ?? problemAt(save, '/environment');
  if (!session)
    return (
      <Section id="environment" title={say.environment} summary={count === 0 ? say.none : say.variables(count)}>
        <Plain
          label={say.variablesTitle}
          text={Object.entries(environment)
            .map(([name, value]) => `${name}=${value}`)
            .join('\n')}
          mono
        />
      </Section>
    );
  return (
    <Section
      id="environment"
      title={say.environment}
      summary={count === 0 ? say.none : say.variables(count)}
      wrong={fault !== undefined}
    >
      <p className={css.hint}>{say.plainValuesInCtxEnv}</p>
      {rows.length > 0 && (
        <div className={css.variables}>
          {rows.map((row, i) => {
            const wrong = variableFault(rows, i);
            return (
              <Fragment key={row.id}>
                <input
                  aria-label={say.nameOfVariable(i + 1)}
                  aria-invalid={wrong !== undefined}
                  placeholder={say.placeholder}
                  spellCheck={false}
                  value={row.name}
                  onChange={(e) => edit(row.id, { name: e.target.value })}
                />
                <input
                  aria-label={say.valueOf(row.name, i + 1)}
                  spellCheck={false}
                  value={row.value}
                  onChange={(e) => edit(row.id, { value: e.target.value })}
                />
                <IconButton
                  ref={leaveFocus}
                  small
                  label={say.remove(row.name, i + 1)}
                  onClick={() => change(rows.filter((r) => r.id !== row.id))}
                >
                  <X size={14} aria-hidden />
                </IconButton>
                {wrong !== undefined && <p className={css.error}>{wrong}</p>}
              </Fragment>
            );
          })}
        </div>
      )}
      {fault !== undefined && <p className={css.error}>{fault}</p>}
      <div>
        <Button onClick={add}>
          <Plus size={14} aria-hidden />
          {say.addVariable}
        </Button>
      </div>
    </Section>
  );
}

const rowsOf = (environment: Record<string, string>): Variable[] =>
  Object.entries(environment).map(([name, value], id) => ({ id, name, value }));
