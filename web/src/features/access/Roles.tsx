import { roleList as say, roleNames } from '../../texts/access';
import entries from '../../ui/Entries.module.css';
import css from './Roles.module.css';
import { roleIcons, roles } from './roles';

/** Describes the rights of each role. */
export function Roles() {
  return (
    <section className={entries.section} aria-labelledby="roles">
      <div>
        <h2 id="roles">{say.roles}</h2>
        <p className={entries.lead}>{say.lead}</p>
      </div>
      <dl className={css.roles}>
        {roles.map(([role, purpose]) => {
          const Icon = roleIcons[role];
          return (
            <div key={role}>
              <dt>
                <Icon size={16} aria-hidden />
                {roleNames[role]}
              </dt>
              <dd>{purpose}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
