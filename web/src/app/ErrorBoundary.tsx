import { basePath } from '../api/base';
import { Component, type ReactNode } from 'react';
import { errorBoundary as say } from '../texts/app';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';

/** Shows a rendering error. Edits are stored in the browser and restored after a reload. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Empty
        title={say.title}
        actions={
          <>
            <Button look="primary" onClick={() => location.reload()}>
              {say.reload}
            </Button>
            <Button onClick={() => location.assign(`${basePath}/studio/`)}>{say.allAgents}</Button>
          </>
        }
      >
        {say.thePageStopped(error.message)}
      </Empty>
    );
  }
}
