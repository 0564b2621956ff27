import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../api/http';
import { getVersion } from '../api/verbs';
import { keys } from '../api/queries';
import type { Draft } from '../api/types';
import type { CalledAgent } from '../schema/calledAgents';

type Capabilities = Draft['capabilities'];

const none: string[] = [];
const noAgents: readonly CalledAgent[] = [];

/** Returns the agents that a program may call, with the schemas of the versions that the references select. */
export function useCalledAgents({ tools = none, pinned = [] }: Capabilities): readonly CalledAgent[] {
  const { data } = useQuery({
    queryKey: keys.calledAgents(tools, pinned.map(({ digest }) => digest).join(' ')),
    enabled: tools.length > 0,
    placeholderData: tools.map((reference): CalledAgent => ({ reference })),
    queryFn: () =>
      Promise.all(
        tools.map(async (reference): Promise<CalledAgent> => {
          const [agent = '', range = ''] = reference.split('@');
          const pin = pinned.find((one) => one.reference === reference);
          try {
            return { reference, version: await getVersion(agent, pin?.digest ?? range) };
          } catch (error) {
            if (!(error instanceof ApiError) || ![404, 409, 422].includes(error.status)) throw error;
            return { reference }; // the reference selects no version; the publish dialog shows this error
          }
        }),
      ),
  });
  return tools.length === 0 ? noAgents : (data ?? noAgents);
}
