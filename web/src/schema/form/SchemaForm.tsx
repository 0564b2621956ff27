// Shows a form for a schema, a value and problems. A part for which there is no field is edited as JSON.
import { createContext, use, useMemo, type ReactNode } from 'react';
import { isObject, rawNumber, type Json } from '../../api/json';
import type { FieldProblem, JsonSchema } from '../../api/types';
import { schemaForm as say } from '../../texts/form';
import { get, join } from '../pointer';
import { ChoiceField } from './ChoiceField';
import type { InputAction, InputState } from './input';
import { JsonBranch } from './JsonBranch';
import { ListField } from './ListField';
import { MomentField } from './MomentField';
import { NumberField, SwitchField, TextField } from './ScalarFields';
import css from './SchemaForm.module.css';
import { readNode, type Node } from './shape';
import { VariantsField } from './VariantsField';

interface FormContext {
  root: JsonSchema;
  input: InputState;
  messages: Map<string, string>;
  onChange: (action: InputAction) => void;
}

const Context = createContext<FormContext | undefined>(undefined);

export function useForm(): FormContext {
  const form = use(Context);
  if (!form) throw new Error('There is no form here.');
  return form;
}

export const fieldId = (pointer: string): string => `input:${pointer}`;

interface Props {
  schema: JsonSchema;
  input: InputState;
  problems: FieldProblem[];
  onChange: (action: InputAction) => void;
}

export function SchemaForm({ schema, input, problems, onChange }: Props) {
  const messages = useMemo(() => new Map(problems.map((p) => [p.pointer, p.message])), [problems]);
  const node = readNode(schema, schema);
  const empty = node.shape.kind === 'object' && node.shape.properties.length === 0 && hasNothing(input.value);
  return (
    <Context value={{ root: schema, input, messages, onChange }}>
      <div className={css.form}>
        {empty ? (
          <p className={css.none}>{say.thisAgentTakesNoInput}</p>
        ) : (
          <NodeField pointer="" node={node} required />
        )}
      </div>
    </Context>
  );
}

const hasNothing = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

/** The props that every field has. */
export interface FieldProps {
  pointer: string;
  node: Node;
  label: ReactNode;
  required: boolean;
  value: Json | undefined;
  error: string | undefined;
}

interface NodeFieldProps {
  pointer: string;
  node: Node;
  required: boolean;
  /** Whether the label shows a mark for a required field. */
  marked?: boolean;
  label?: string;
}

export function NodeField({ pointer, node, required, marked = false, label }: NodeFieldProps) {
  const { input, messages } = useForm();
  const value = get(input.value, pointer);
  const name = node.title ?? label ?? '';
  const props: FieldProps = {
    pointer,
    node,
    label: (
      <>
        {name}
        {!required && name !== '' && <em> {say.optional}</em>}
        {marked && (
          <span aria-hidden className={css.required} title={say.required}>
            {' *'}
          </span>
        )}
      </>
    ),
    required,
    value,
    error: messages.get(pointer),
  };
  // If the type of a value differs from that of the schema, the value is shown as JSON. An empty field would hide the
  // value.
  if (!fits(node, value)) return <JsonBranch {...props} />;
  switch (node.shape.kind) {
    case 'text':
      return <TextField {...props} shape={node.shape} />;
    case 'moment':
      return <MomentField {...props} />;
    case 'number':
      return <NumberField {...props} integer={node.shape.integer} />;
    case 'switch':
      return <SwitchField {...props} />;
    case 'choice':
      return <ChoiceField {...props} options={node.shape.options} />;
    case 'constant':
      return <JsonBranch {...props} readOnly />;
    case 'object':
      return <ObjectField {...props} properties={node.shape.properties} />;
    case 'list':
      return <ListField {...props} items={node.shape.items} />;
    case 'variants':
      return <VariantsField {...props} branches={node.shape.branches} />;
    case 'json':
      return <JsonBranch {...props} />;
  }
}

/** Whether the type of a value fits a field. */
export function fits({ shape, nullable }: Node, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (value === null && nullable) return shape.kind !== 'object' && shape.kind !== 'list';
  switch (shape.kind) {
    case 'text':
    case 'moment':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' || rawNumber(value) !== undefined;
    case 'switch':
      return typeof value === 'boolean';
    case 'object':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
    case 'choice':
    case 'constant':
    case 'variants':
    case 'json':
      return true;
  }
}

interface ObjectProps extends FieldProps {
  properties: { key: string; schema: JsonSchema; required: boolean }[];
}

function ObjectField({ pointer, node, label, error, properties }: ObjectProps) {
  const { root } = useForm();
  const fields = properties.map(({ key, schema, required }) => (
    <NodeField
      key={key}
      pointer={join(pointer, key)}
      node={readNode(schema, root)}
      required={required}
      marked={required}
      label={key}
    />
  ));
  if (pointer === '')
    return (
      <>
        {fields}
        {properties.some(({ required }) => required) && (
          <p className={css.hint} aria-hidden>
            <span className={css.required}>*</span> {say.required}
          </p>
        )}
      </>
    );
  return (
    <fieldset id={fieldId(pointer)} tabIndex={-1}>
      <legend className={css.legend}>{label}</legend>
      {node.description !== undefined && <p className={css.hint}>{node.description}</p>}
      {error !== undefined && <p className={css.error}>{error}</p>}
      <div className={css.group}>{fields}</div>
    </fieldset>
  );
}
