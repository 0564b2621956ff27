import { useConnection } from '../state/online';
import { unreachable as say } from '../texts/agents';
import { useOpenAgent } from './openAgent';

/** Returns the reason why the server cannot be used, or undefined while the server answers. */
export function useUnreachable(): string | undefined {
  const { save } = useOpenAgent();
  const connection = useConnection();
  if (connection !== 'connected') return say[connection];
  return save.kind === 'offline' ? say.notReached : undefined;
}
