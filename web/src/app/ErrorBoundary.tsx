import { CircleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { basePath } from '../api/base';
import { errorBoundary as say } from '../texts/app';
import { Button } from '../ui/Button';
import { CopyButton } from '../ui/CopyButton';
import { Empty } from '../ui/Empty';
import { Summary } from '../ui/Summary';
import css from './ErrorBoundary.module.css';

interface Props {
  /** The URL of the page. When it changes, the error of the page before is removed. */
  place?: string;
  /** Draws the frame around the error. Without it, the error fills the window. */
  frame?: (content: ReactNode) => ReactNode;
  children: ReactNode;
}

interface State {
  error: Error | undefined;
  place: string | undefined;
}

/**
 * Shows an error that a component throws while it renders. Edits are stored in the browser and restored after a reload.
 */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined, place: this.props.place };

  static getDerivedStateFromError(error: unknown): Pick<State, 'error'> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps({ place }: Props, state: State): State | null {
    return place === state.place ? null : { error: undefined, place };
  }

  override render() {
    const { error } = this.state;
    const { children, frame = (content) => <main>{content}</main> } = this.props;
    if (!error) return children;
    const outdated = isFailedImport(error);
    return frame(
      <div className={css.page}>
        <Empty
          icon={CircleAlert}
          title={outdated ? say.notLoaded : say.title}
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
              <details open={!outdated}>
                <Summary>{say.report}</Summary>
                <pre tabIndex={0}>{error.message}</pre>
                <CopyButton text={() => reportOf(error)} label={say.copyReport} wording={say.copyReport} />
              </details>
            </section>
          }
        >
          {outdated ? say.reloadIt : say.thePageStopped}
        </Empty>
      </div>,
    );
  }
}

/**
 * Whether the code of a page could not be loaded. An updated server no longer has the old files. The messages are those
 * of Chrome, Firefox and Safari, and that of Vite for a style sheet.
 */
const isFailedImport = ({ message }: Error): boolean =>
  /dynamically imported module|Importing a module script failed|Unable to preload CSS/.test(message);

/** Returns a text for a bug report: the URL without secrets, the browser and the error. */
const reportOf = (error: Error): string =>
  [location.pathname, navigator.userAgent, error.stack ?? error.message].join('\n');
