import { Link, useLocation } from 'wouter';
import { gateNav as say } from '../texts/gate';
import css from './GateNav.module.css';

const pages = [
  { to: '/approvals', label: say.approvals },
  { to: '/blocked', label: say.blocked },
  { to: '/rules', label: say.rules },
];

/** Shows links between the pages of the policy gate. */
export function GateNav() {
  const [here] = useLocation();
  return (
    <nav className={css.nav} aria-label={say.label}>
      {pages.map(({ to, label }) => (
        <Link key={to} href={to} aria-current={here === to ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
