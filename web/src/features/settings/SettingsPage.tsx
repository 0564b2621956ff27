import { ArrowUpRight, Code, Info, Keyboard, KeyRound, Palette, type LucideIcon } from 'lucide-react';
import { useEffect, type ComponentType } from 'react';
import { Link, Redirect } from 'wouter';
import { useRights } from '../../api/rights';
import { editorSettings } from '../../texts/files';
import { settingsPage as say } from '../../texts/settings';
import { Empty } from '../../ui/Empty';
import { Column, Page } from '../../frame/Page';
import { EditorForm } from '../../editor/EditorForm';
import { About } from './About';
import { Appearance } from './Appearance';
import { Keys } from './Keys';
import css from './SettingsPage.module.css';

const sections = { appearance: Appearance, keys: Keys, editor: Editor, about: About } satisfies Record<
  string,
  ComponentType
>;
type Section = keyof typeof sections;

const icons: Record<Section, LucideIcon> = { appearance: Palette, keys: Keyboard, editor: Code, about: Info };

const isSection = (section: string): section is Section => Object.hasOwn(sections, section);

/** Shows the user's settings, and information about the Studio. */
export function SettingsPage({ section }: { section: string }) {
  const { mayAnywhere } = useRights();
  const known = isSection(section) ? section : undefined;
  useEffect(() => {
    document.title = say.pageTitle(known && say.sections[known]);
  }, [known]);
  // Tokens belong to the workspace and have their own page.
  if (section === 'tokens') return <Redirect to="/tokens" replace />;
  return (
    <Page>
      <Column>
        <h1>{say.settings}</h1>
        <div className={css.parts}>
          <nav className={css.sections} aria-label={say.sectionsOfTheSettings}>
            {Object.keys(sections)
              .filter(isSection)
              .map((name) => {
                const Icon = icons[name];
                return (
                  <Link key={name} href={`/settings/${name}`} aria-current={name === known ? 'page' : undefined}>
                    <Icon size={16} aria-hidden />
                    {say.sections[name]}
                  </Link>
                );
              })}
            {mayAnywhere('admin') && (
              <Link href="/tokens">
                <KeyRound size={16} aria-hidden />
                {say.tokens}
                <ArrowUpRight size={14} className={css.away} aria-hidden />
              </Link>
            )}
          </nav>
          {known ? <Shown section={known} /> : <Empty>{say.noSuchSection}</Empty>}
        </div>
      </Column>
    </Page>
  );
}

function Shown({ section }: { section: Section }) {
  const Content = sections[section];
  return (
    <section className={css.section} aria-labelledby="section">
      <h2 id="section">{say.sections[section]}</h2>
      <Content />
    </section>
  );
}

function Editor() {
  return (
    <>
      <p className={css.lead}>{editorSettings.about}</p>
      <div className={css.narrow}>
        <EditorForm />
      </div>
    </>
  );
}
