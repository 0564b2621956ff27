import { useOnline } from '../state/online';
import { cutOff as say } from '../texts/agents';
import { useOpenAgent } from './openAgent';

/** Why nothing that needs the server can be begun now; undefined while it can be reached, as far as the page knows. */
export function useCutOff(): string | undefined {
  const { save } = useOpenAgent();
  const online = useOnline();
  if (!online) return say.noNetwork;
  return save.kind === 'offline' ? say.notReached : undefined;
}
