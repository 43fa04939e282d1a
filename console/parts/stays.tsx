/** Keeps this page open while it stands: what is under way would be forgotten with it. */
import { useBlocker } from '@tanstack/react-router';

/** Other pages, back and forward do nothing; the browser asks before it reloads or closes. */
export function Stays() {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  return null;
}
