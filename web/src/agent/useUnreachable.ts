import { useConnection } from '../state/online';
import { unreachable as say } from '../texts/agents';
import { useOpenAgent } from './openAgent';

/** Returns why the server cannot be used now, or undefined while it is reachable as far as the page knows. */
export function useUnreachable(): string | undefined {
  const { save } = useOpenAgent();
  const connection = useConnection();
  if (connection !== 'connected') return say[connection];
  return save.kind === 'offline' ? say.notReached : undefined;
}
