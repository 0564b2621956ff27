import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/jetbrains-mono/wght.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { knowEarly, queryClient } from './api/queries';
import { agentPage } from './app/AgentRoute';
import { App } from './app/App';
import { loadEditor } from './editor/load';
import './ui/tokens.css';
import './ui/base.css';

// The editor's code is on its way before the first paint; a failure is told where the editor is shown.
loadEditor().catch(() => undefined);

function draw(): void {
  const root = document.getElementById('root');
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}

// Where an agent is here already, what stands in for it while it is on its way is not drawn first.
void knowEarly()
  .then(async (known) => {
    if (known) await agentPage;
  })
  .then(draw, draw);
