/**
 * Prevents leaving the page while a request is in progress, since the page would lose its outcome.
 */
import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { keepPage } from '../data/steps.ts';

/**
 * While rendered, blocks links to other pages, back and forward; the browser asks before it reloads
 * or closes.
 */
export function Stays() {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  useEffect(keepPage, []);
  return null;
}
