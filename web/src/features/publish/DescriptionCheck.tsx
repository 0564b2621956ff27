import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keys } from '../../api/queries';
import { checkDescription } from '../../api/verbs';
import { problemAt, useOpenAgent } from '../../agent/openAgent';
import { generalSection } from '../../texts/config';
import { describedDialog as say } from '../../texts/publish';
import { Field } from '../../ui/Field';
import { useSettled } from '../../ui/useSettled';
import css from './PublishDialog.module.css';

const pause = 300;

/**
 * Warns about a description that is missing or not useful for models, and edits it. The warning stays while the dialog
 * is open.
 */
export function DescriptionCheck() {
  const { about, save, session } = useOpenAgent();
  const { name, title } = about;
  const description = useSettled(about.description, pause);
  const check = useQuery({
    queryKey: keys.description(name, title, description),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await checkDescription({ name, title, description }, signal)).warnings,
  });
  const poor = check.data?.find(({ pointer }) => pointer === '/description');
  const [shown, show] = useState(false);
  if (poor && !shown) show(true);
  if (!session || !(shown || poor)) return null;
  return (
    <section className={css.described} data-poor={poor !== undefined} aria-label={say.title}>
      <p role="status">{poor ? say.warns(poor.message) : say.good}</p>
      <Field label={generalSection.description} error={problemAt(save, '/description')}>
        {(control) => (
          <textarea
            {...control}
            rows={3}
            placeholder={say.example}
            value={about.description}
            onChange={(e) => session.editAbout({ description: e.target.value })}
          />
        )}
      </Field>
    </section>
  );
}
