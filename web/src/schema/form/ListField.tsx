import { ArrowUp, Plus, Trash2 } from 'lucide-react';
import type { JsonSchema } from '../../api/types';
import { listField as say } from '../../texts/form';
import { Button, IconButton } from '../../ui/Button';
import { leaveFocus } from '../../ui/focusBack';
import { join } from '../pointer';
import { blankValue } from './defaults';
import { fieldId, NodeField, useForm, type FieldProps } from './SchemaForm';
import css from './SchemaForm.module.css';
import { readNode } from './shape';

export function ListField({ pointer, node, label, value, error, items }: FieldProps & { items: JsonSchema }) {
  const { root, onChange } = useForm();
  const list = Array.isArray(value) ? value : [];
  const item = readNode(items, root);
  const add = (): void => onChange({ do: 'set', at: pointer, to: [...list, blankValue(items, root)] });
  const up = (i: number): void => {
    const moved = [...list];
    moved.splice(i - 1, 0, ...moved.splice(i, 1));
    onChange({ do: 'set', at: pointer, to: moved });
  };
  return (
    <fieldset id={fieldId(pointer)} tabIndex={-1}>
      <legend className={css.legend}>{label}</legend>
      {node.description !== undefined && <p className={css.hint}>{node.description}</p>}
      {error !== undefined && <p className={css.error}>{error}</p>}
      <div className={css.items}>
        {list.map((_, i) => (
          <div key={i} className={css.item}>
            <NodeField pointer={join(pointer, i)} node={item} required label={say.item(i + 1)} />
            <div className={css.itemTools}>
              <IconButton small label={say.moveItemUp(i + 1)} disabled={i === 0} onClick={() => up(i)}>
                <ArrowUp size={14} aria-hidden />
              </IconButton>
              <IconButton
                ref={leaveFocus}
                small
                label={say.removeItem(i + 1)}
                onClick={() => onChange({ do: 'set', at: join(pointer, i), to: undefined })}
              >
                <Trash2 size={14} aria-hidden />
              </IconButton>
            </div>
          </div>
        ))}
        <div>
          <Button onClick={add}>
            <Plus size={14} aria-hidden />
            {say.addItem}
          </Button>
        </div>
      </div>
    </fieldset>
  );
}
