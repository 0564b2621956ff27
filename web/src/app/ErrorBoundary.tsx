import { CircleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { basePath } from '../api/base';
import { errorBoundary as say } from '../texts/app';
import { Button } from '../ui/Button';
import { CopyButton } from '../ui/CopyButton';
import { Empty } from '../ui/Empty';
import css from './ErrorBoundary.module.css';

/**
 * Shows an error that a component throws while it renders. Edits are stored in the browser and restored after a reload.
 */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <main className={css.page}>
        <Empty
          icon={CircleAlert}
          title={say.title}
          actions={
            <>
              <Button look="primary" onClick={() => location.reload()}>
                {say.reload}
              </Button>
              <Button onClick={() => location.assign(`${basePath}/studio/`)}>{say.allAgents}</Button>
            </>
          }
          more={
            <section className={css.report} aria-label={say.report}>
              <h2>{say.report}</h2>
              <pre tabIndex={0}>{error.message}</pre>
              <CopyButton text={() => reportOf(error)} label={say.copyReport} wording={say.copyReport} />
            </section>
          }
        >
          {say.thePageStopped}
        </Empty>
      </main>
    );
  }
}

/** Returns a text for a bug report: the URL without secrets, the browser and the error. */
const reportOf = (error: Error): string =>
  [location.pathname, navigator.userAgent, error.stack ?? error.message].join('\n');
