import css from './ConfigPanel.module.css';
import { EnvironmentSection } from './EnvironmentSection';
import { GeneralSection } from './GeneralSection';
import { LimitsSection } from './LimitsSection';
import { NetworkSection } from './NetworkSection';
import { PackagesSection } from './PackagesSection';
import { RuntimeSection } from './RuntimeSection';
import { SafetySection } from './SafetySection';
import { SchemaSection } from './SchemaSection';
import { SecretsSection } from './SecretsSection';
import { VersionsSection } from './VersionsSection';

interface Props {
  /** The schema that is open in the editor. */
  active: 'input' | 'output' | undefined;
  onSchema: (which: 'input' | 'output') => void;
}

/** Shows the configuration of the open agent. */
export function ConfigPanel({ active, onSchema }: Props) {
  return (
    <div className={css.panel}>
      <GeneralSection />
      <SchemaSection which="input" active={active === 'input'} onEdit={() => onSchema('input')} />
      <SchemaSection which="output" active={active === 'output'} onEdit={() => onSchema('output')} />
      <PackagesSection />
      <EnvironmentSection />
      <SecretsSection />
      <NetworkSection />
      <SafetySection />
      <RuntimeSection />
      <VersionsSection />
      <LimitsSection />
    </div>
  );
}
