/** Sections of a page, and areas that scroll. */
import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';

export function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/**
 * Renders a scrollable area for content that may be wider than the page; the keyboard scrolls it
 * too. `start`: the point, in pixels, that is first shown at the middle of the width and at the
 * top.
 */
export function Scroll({
  label,
  start,
  children,
}: {
  label: string;
  start?: { readonly x: number; readonly y: number };
  children: ReactNode;
}) {
  const region = useRef<HTMLDivElement>(null);
  // Runs once: later updates must not undo the reader's own scrolling.
  useLayoutEffect(() => {
    if (start !== undefined && region.current !== null)
      region.current.scrollTo(start.x - region.current.clientWidth / 2, start.y);
  }, []);
  return (
    <div ref={region} className="scroll" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
