import { Columns2, X } from 'lucide-react';
import type { KeyboardEvent } from 'react';
import type { Tab } from '../state/urlState';
import { IconButton } from '../ui/Button';
import { classes } from '../ui/classes';
import { editorTabs as say, schema } from '../texts/files';
import { problemAt, type OpenAgent } from '../agent/openAgent';
import css from './EditorPane.module.css';
import { sameTab, tabKey, type EditorGroup, type Tabs } from '../agent/useTabs';

interface Props {
  tabs: Tabs;
  group: EditorGroup;
  agent: OpenAgent;
}

export function EditorTabs({ tabs, group, agent }: Props) {
  const { all, active, side } = group;
  const open = (tab: Tab): void => tabs.open(tab, undefined, undefined, side);
  const close = (tab: Tab): void => tabs.close(tab, side);

  const onKey = (e: KeyboardEvent, tab: Tab): void => {
    const at = all.findIndex((t) => sameTab(t, tab));
    const to = { ArrowRight: all[at + 1] ?? all[0], ArrowLeft: all.at(at - 1), Home: all[0], End: all.at(-1) }[e.key];
    if (e.key === 'Delete') return close(tab);
    if (!to) return;
    e.preventDefault();
    const list = e.currentTarget.closest('[role=tablist]');
    list?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(tabKey(to))}"]`)?.focus();
  };

  return (
    <div className={css.strip}>
      <div className={css.tabs} role="tablist" aria-label={say.openFiles(side === 'second')}>
        {all.map((tab) => {
          const selected = sameTab(tab, active);
          return (
            <div key={tabKey(tab)} role="presentation" className={classes(css.tab, selected && css.active)}>
              <button
                type="button"
                role="tab"
                data-tab={tabKey(tab)}
                aria-selected={selected}
                tabIndex={selected ? 0 : -1}
                onClick={() => open(tab)}
                onAuxClick={(e) => e.button === 1 && close(tab)}
                onKeyDown={(e) => onKey(e, tab)}
              >
                {titleOf(tab, all)}
                {tab.kind === 'schema' && hasFault(agent, tab.which) && (
                  <span className={css.fault} role="img" aria-label={say.notValid} />
                )}
                {/* For the mouse; keyboard users press Delete, or Alt+W in the editor. */}
                <span
                  aria-hidden
                  className={css.close}
                  title={say.close}
                  onClick={(e) => {
                    e.stopPropagation();
                    close(tab);
                  }}
                >
                  <X size={14} />
                </span>
              </button>
            </div>
          );
        })}
      </div>
      <Actions tabs={tabs} group={group} />
    </div>
  );
}

/** Opens a second editor, or closes it. */
function Actions({ tabs, group: { active, side } }: Pick<Props, 'tabs' | 'group'>) {
  if (side === 'second')
    return (
      <IconButton small label={say.join} onClick={tabs.join}>
        <X size={14} aria-hidden />
      </IconButton>
    );
  if (!tabs.splits || tabs.groups.length > 1) return null;
  return (
    <IconButton small label={say.split} onClick={() => tabs.open(active, undefined, undefined, 'second')}>
      <Columns2 size={14} aria-hidden />
    </IconButton>
  );
}

/** Returns the name of the file. It includes the folder if another tab has the same file name. */
function titleOf(tab: Tab, all: Tab[]): string {
  if (tab.kind === 'schema') return schema(tab.which);
  const name = baseName(tab.path);
  const twins = all.filter((t) => t.kind === 'file' && baseName(t.path) === name);
  return twins.length > 1 ? tab.path : name;
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function hasFault(agent: OpenAgent, which: 'input' | 'output'): boolean {
  return agent.schemas[which].fault !== undefined || problemAt(agent.save, `/${which}Schema`) !== undefined;
}
