/** A part of the page under its heading. */
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
 * What may be wider than the page scrolls by itself, by keyboard too. `start`: the point of it, in
 * pixels, that it opens at, across its middle and below its top.
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
  // Once: what a reader has scrolled to stays, whatever happens in it.
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
