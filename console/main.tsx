/** Entry point: renders the console into the page that the service serves. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { watchPresence } from './data/presence.ts';

watchPresence();

const root = document.querySelector('#console');
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
