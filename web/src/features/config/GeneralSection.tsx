import { useState } from 'react';
import { generalSection as say } from '../../texts/config';
import { Field } from '../../ui/Field';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import { Plain } from './Plain';
import { Section } from './Section';

export function GeneralSection() {
  const { about, save, session } = useOpenAgent();
  const missing = about.description.trim() === '';
  if (!session)
    return (
      <Section id="general" title={say.description} summary={missing ? say.noDescription : about.title}>
        <Plain label={say.title} text={about.title} />
        <Plain label={say.description} text={about.description} />
        <Plain label={say.tags} text={about.tags.join(', ')} />
      </Section>
    );
  return (
    <Section id="general" title={say.description} summary={missing ? say.noDescription : about.title} wrong={missing}>
      <Field label={say.title} error={problemAt(save, '/title')}>
        {(control) => (
          <input {...control} value={about.title} onChange={(e) => session.editAbout({ title: e.target.value })} />
        )}
      </Field>
      <Field label={say.description} hint={say.descriptionHint} error={problemAt(save, '/description')}>
        {(control) => (
          <textarea
            {...control}
            rows={3}
            value={about.description}
            onChange={(e) => session.editAbout({ description: e.target.value })}
          />
        )}
      </Field>
      <Tags />
    </Section>
  );
}

/**
 * The user types tags in one line. The text is stored in addition to the list, so that a comma at the end does not
 * disappear.
 */
function Tags() {
  const { about, save, session } = useOpenAgent();
  const [typed, setTyped] = useState<string>();
  const joined = about.tags.join(', ');
  const shown = typed !== undefined && split(typed).join(', ') === joined ? typed : joined;
  return (
    <Field label={say.tags} hint={say.tagsHint} error={problemAt(save, '/tags')}>
      {(control) => (
        <input
          {...control}
          value={shown}
          onChange={(e) => {
            setTyped(e.target.value);
            session?.editAbout({ tags: split(e.target.value) });
          }}
        />
      )}
    </Field>
  );
}

const split = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((t) => t.trim())
      .filter((t) => t !== ''),
  ),
];
