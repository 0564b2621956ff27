import { useEffect, useEffectEvent, useRef } from 'react';
import { ApiError } from '../api/http';
import { stringifyJson } from '../api/json';
import { inferSchemas } from '../api/verbs';
import { schemaOf, useOpenAgent, useOpenFiles } from '../agent/openAgent';
import { hasTypes, useOlderSchemas, useUnread } from '../agent/schemaSources';
import { canonical } from '../provenance/canonical';

/** The pause in typing, in milliseconds, after which the types are read. */
const quietMs = 700;
/** The delay in milliseconds before the next request, if the server had no capacity for the last one. */
const pauseMs = 60_000;

/**
 * Updates schemas that were inferred from the code while the user edits the code here. It ignores edits of other
 * people, because their pages update the schemas; two pages that save the same schema would cause a conflict. If the
 * types cannot be read, the schema does not change. It is then marked as older than the code, with the reason.
 */
export function FollowCode() {
  const agent = useOpenAgent();
  const files = useOpenFiles();
  const older = useOlderSchemas();
  const { session, save, fields } = agent;
  const { language, entrypoint, environment, packages, rules, runtime } = fields;
  const shown = useRef(files);
  const own = useRef(false);
  const pausedUntil = useRef(0);
  useEffect(() => {
    if (shown.current === files) return;
    shown.current = files;
    own.current = save.kind !== 'saved';
  }, [files, save.kind]);

  const follow = useEffectEvent(async (signal: AbortSignal) => {
    try {
      const found = await inferSchemas(
        { language, files, entrypoint, environment, packages, runtime, ...(rules && { rules }) },
        signal,
      );
      if (signal.aborted) return;
      useUnread.setState({ agent: agent.id, problems: [] });
      for (const side of older) {
        const now = schemaOf(fields, side);
        const next = schemaOf({ ...fields, ...found }, side);
        const same = canonical(now) === canonical(next);
        agent.editSchema(side, `${stringifyJson(same ? now : next, 2)}\n`, found.schemaSources[side]);
      }
    } catch (error) {
      if (!(error instanceof ApiError) || signal.aborted) return;
      if (error.code === 'invalid_input') useUnread.setState({ agent: agent.id, problems: error.fields });
      else pausedUntil.current = Date.now() + pauseMs;
    }
  });
  const follows = session !== undefined && hasTypes(language) && older.length > 0;
  useEffect(() => {
    if (!follows || !own.current || Date.now() < pausedUntil.current) return;
    const controller = new AbortController();
    const timer = setTimeout(() => void follow(controller.signal), quietMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [follows, files]);
  return null;
}
