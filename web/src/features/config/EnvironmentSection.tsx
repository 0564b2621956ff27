import { Plus, X } from 'lucide-react';
import { Fragment, useState } from 'react';
import { plural } from '../../app/format';
import { Button, IconButton } from '../../ui/Button';
import { problemAt, useOpenAgent } from '../agents/openAgent';
import css from './ConfigPanel.module.css';
import { environmentFault, sameEnvironment, toEnvironment, variableFault, type Variable } from './environment';
import { Section } from './Section';

/** Plain values that the program finds in its environment. */
export function EnvironmentSection() {
  const { fields, save, session } = useOpenAgent();
  const { environment } = fields;
  const count = Object.keys(environment).length;
  const [rows, setRows] = useState<Variable[]>(() => rowsOf(environment));
  // Changed from outside: another draft was taken.
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
  const readOnly = session === undefined;
  return (
    <Section
      id="environment"
      title="Environment"
      summary={count === 0 ? 'None' : plural(count, 'variable')}
      wrong={fault !== undefined}
    >
      <p className={css.hint}>
        Plain values, in ctx.env and as environment variables. Secrets have a list of their own below.
      </p>
      {rows.length > 0 && (
        <div className={css.variables}>
          {rows.map((row, i) => {
            const wrong = variableFault(rows, i);
            return (
              <Fragment key={row.id}>
                <input
                  aria-label={`Name of variable ${i + 1}`}
                  aria-invalid={wrong !== undefined}
                  placeholder="NAME"
                  spellCheck={false}
                  readOnly={readOnly}
                  value={row.name}
                  onChange={(e) => edit(row.id, { name: e.target.value })}
                />
                <input
                  aria-label={`Value of ${row.name === '' ? `variable ${i + 1}` : row.name}`}
                  spellCheck={false}
                  readOnly={readOnly}
                  value={row.value}
                  onChange={(e) => edit(row.id, { value: e.target.value })}
                />
                {readOnly ? (
                  <span />
                ) : (
                  <IconButton
                    small
                    label={`Remove ${row.name === '' ? `variable ${i + 1}` : row.name}`}
                    onClick={() => change(rows.filter((r) => r.id !== row.id))}
                  >
                    <X size={14} aria-hidden />
                  </IconButton>
                )}
                {wrong !== undefined && <p className={css.error}>{wrong}</p>}
              </Fragment>
            );
          })}
        </div>
      )}
      {fault !== undefined && <p className={css.error}>{fault}</p>}
      {!readOnly && (
        <div>
          <Button onClick={add}>
            <Plus size={14} aria-hidden />
            Add variable
          </Button>
        </div>
      )}
    </Section>
  );
}

const rowsOf = (environment: Record<string, string>): Variable[] =>
  Object.entries(environment).map(([name, value], id) => ({ id, name, value }));
