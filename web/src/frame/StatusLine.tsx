import { Link } from 'wouter';
import { useBudgets, useCapabilities } from '../api/queries';
import { useRights } from '../api/rights';
import { statusLine as say } from '../texts/app';
import { useConnection } from '../state/online';
import { budgetNotice } from '../texts/usage';
import css from './StatusLine.module.css';

/** Shows the status of the server: the connection and the isolation. */
export function ServerStatus() {
  const capabilities = useCapabilities();
  const connection = useConnection();
  const sandbox = capabilities.data?.sandbox;
  return (
    <>
      <span className={css.grow} />
      <BudgetNotice />
      {sandbox && (
        <Link
          href="/server"
          className={css.link}
          title={sandbox.missing.length > 0 ? say.missing(sandbox.missing.join(', ')) : undefined}
        >
          {say.sandbox(sandbox.level, sandbox.missing.length)}
        </Link>
      )}
      <span className={connection === 'connected' ? undefined : css.offline}>{say[connection]}</span>
    </>
  );
}

/** The used percentage from which a budget is shown. */
const shownFrom = 50;

/** Returns the budget with the largest used share, if at least half of it is used. */
function BudgetNotice() {
  const { mayAnywhere } = useRights();
  const { data = [] } = useBudgets(mayAnywhere('read'));
  const used = data.filter(({ percent }) => percent >= shownFrom).sort((a, b) => b.percent - a.percent);
  const [most] = used;
  if (!most) return null;
  return (
    <Link
      href="/usage"
      className={css.link}
      data-look={most.exceeded ? 'err' : most.percent >= 80 ? 'warn' : undefined}
    >
      {budgetNotice.some(most.name, most.percent)} {used.length > 1 && budgetNotice.more(used.length - 1)}
    </Link>
  );
}
