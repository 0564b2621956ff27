import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/jetbrains-mono/wght.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { knowEarly, queryClient } from './api/queries';
import { loadAgentPage, onAgentPage } from './app/AgentRoute';
import { App } from './app/App';
import { loadEditor } from './editor/load';
import './ui/tokens.css';
import './ui/base.css';

// On the page of an agent, the editor starts loading before the first paint. The editor pane shows an error. Other
// pages do not load the editor.
if (onAgentPage()) loadEditor().catch(() => undefined);

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

// If the agent is already loaded, the page is drawn without a placeholder.
void knowEarly()
  .then(async (known) => {
    if (known) await loadAgentPage();
  })
  .then(draw, draw);
