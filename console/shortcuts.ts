/** Keyboard shortcuts of every page; Tab reaches a page's own controls. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { PAGES } from './routes.ts';

/**
 * The key that follows `g` to open a page, by the page's position. Without `g`, which starts a new
 * shortcut.
 */
const PLACES = '123456789abcdefhijklmnopqrstuvwxyz';

const linked = PAGES.filter(({ navigation }) => navigation !== null);

export const SHORTCUTS: readonly { readonly keys: string; readonly does: string }[] = [
  { keys: '?', does: 'Lists the keys' },
  { keys: '/', does: 'To the search' },
  ...linked.map(({ title }, index) => ({
    keys: `g ${PLACES[index] ?? ''}`,
    does: `Opens ${title}`,
  })),
  { keys: 'Tab, Shift+Tab', does: 'To the next control, to the one before' },
  { keys: 'Enter, Space', does: 'Uses a control' },
  { keys: 'Escape', does: 'Closes a sheet; nothing is sent' },
];

/** Element id of the search field in the header. */
export const SEARCH_ID = 'search';

/** The second key of a shortcut must follow `g` within this time. */
const CHORD_MS = 1_500;

export function useShortcuts(onHelp: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let chordAt = 0;
    const onKey = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      // To leave the page would close its sheet and lose what was typed there.
      if (document.querySelector('[role="dialog"]') !== null) return;
      if (event.key === '?') onHelp();
      const box = document.getElementById(SEARCH_ID);
      if (event.key === '/' && box !== null) {
        event.preventDefault();
        box.focus();
      }
      if (Date.now() - chordAt < CHORD_MS) {
        const page = linked[PLACES.indexOf(event.key)];
        if (page !== undefined) void navigate({ to: page.path });
      }
      chordAt = event.key === 'g' ? Date.now() : 0;
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, onHelp]);
}
