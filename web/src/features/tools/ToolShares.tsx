import type { SetTool } from '../../api/types';
import { toolSets as say } from '../../texts/toolSets';
import { Shares } from '../../ui/Shares';
import { stateLooks, toolStateOf, toolStates } from './toolState';

/**
 * Shows how many tools of a set are current, outdated, deprecated and deleted. If all tools have the same state, it
 * shows nothing.
 */
export function ToolShares({ label, tools }: { label: string; tools: readonly SetTool[] }) {
  const states = tools.map(toolStateOf);
  if (new Set(states).size < 2) return null;
  return (
    <Shares
      label={label}
      shares={[...toolStates].reverse().map((state) => ({
        key: state,
        label: say.states[state],
        count: states.filter((one) => one === state).length,
        ...stateLooks[state],
      }))}
    />
  );
}
