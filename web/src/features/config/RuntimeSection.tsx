import { useCapabilities } from '../../api/queries';
import { runtimeSection as say } from '../../texts/config';
import { Field } from '../../ui/Field';
import { languageNames } from '../../agent/starters';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import css from './ConfigPanel.module.css';
import { RuntimeOutlook } from '../../agent/RuntimeOutlook';
import { isolationOptions, runtimeOptions } from '../../agent/runtimes';
import { Plain } from './Plain';
import { Section } from './Section';

export function RuntimeSection() {
  const { fields, paths, save, session } = useOpenAgent();
  const { language, runtime, entrypoint } = fields;
  const capabilities = useCapabilities();
  const known = capabilities.data?.languages.find((l) => l.language === language);
  const runtimes = runtimeOptions(known, runtime);
  const isolation = fields.isolation ?? '';
  if (!session)
    return (
      <Section id="runtime" title={say.runtime} summary={runtime}>
        <div className={css.pair}>
          <Plain label={say.runtime} text={runtimes.find((r) => r.runtime === runtime)?.label ?? runtime} />
          <Plain label={say.entrypoint} text={entrypoint} mono />
        </div>
        <RuntimeOutlook missing={undefined} />
        <Plain
          label={say.isolationOfRuns}
          text={isolationOptions(isolation).find((o) => o.isolation === isolation)?.label ?? isolation}
        />
      </Section>
    );
  return (
    <Section id="runtime" title={say.runtime} summary={runtime}>
      {known?.available === false && (
        <p className={css.error}>{say.thisServerCannotRun(languageNames[language], known.reason)}</p>
      )}
      <div className={css.pair}>
        <Field label={say.runtime} error={problemAt(save, '/runtime')}>
          {(control) => (
            <select {...control} value={runtime} onChange={(e) => session.editDraft({ runtime: e.target.value })}>
              {runtimes.map((r) => (
                <option key={r.runtime} value={r.runtime} disabled={r.missing !== undefined && r.runtime !== runtime}>
                  {r.label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={say.entrypoint} error={problemAt(save, '/entrypoint')}>
          {(control) => (
            <select {...control} value={entrypoint} onChange={(e) => session.editDraft({ entrypoint: e.target.value })}>
              {[...new Set([...paths, entrypoint])].map((path) => (
                <option key={path} value={path}>
                  {path}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <RuntimeOutlook missing={runtimes.find((r) => r.missing !== undefined)} />
      <Field label={say.isolationOfRuns} error={problemAt(save, '/isolation')}>
        {(control) => (
          <select {...control} value={isolation} onChange={(e) => session.editDraft({ isolation: e.target.value })}>
            {isolationOptions(isolation).map((o) => (
              <option key={o.isolation} value={o.isolation}>
                {o.label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Section>
  );
}
