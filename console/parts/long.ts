/** Which of many rows are drawn: those in view, and the one that has the focus. */
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
} from 'react';

/** Up to so many, all are drawn. */
export const FEW = 50;

/** What a row of a table is taken for until it was drawn once, in pixels. */
export const ROW_HEIGHT = 60;

/** Drawn beyond the view at both ends, so that Tab finds the next one. */
const BEYOND = 4;

export interface LongOptions {
  readonly count: number;
  /**
   * By index, unique; the same row has the same key after a change. Another function: other rows.
   */
  readonly keyOf: (index: number) => string;
  /** What a row is taken for until it was drawn once, in pixels: too little draws too many. */
  readonly height: number;
}

export interface DrawnRow {
  readonly index: number;
  readonly key: string;
  /** Height of what is left out before it, in pixels; 0 for the one that follows its neighbour. */
  readonly gap: number;
}

export interface Long {
  /** Of the element that scrolls. */
  readonly scroller: {
    readonly ref: RefObject<HTMLDivElement | null>;
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onPointerEnter: () => void;
    readonly onPointerLeave: () => void;
  };
  readonly drawn: readonly DrawnRow[];
  /** Height of what is left out after the last one, in pixels. */
  readonly gapAfter: number;
  /** Of every row's element, which also has `data-index` and can take the focus. */
  readonly measure: (element: Element | null) => void;
  /** Of the element around the rows. */
  readonly focus: {
    readonly onFocus: (event: FocusEvent) => void;
    readonly onBlur: (event: FocusEvent) => void;
  };
}

/**
 * The focus stays where it is while its row is scrolled away or moved by a change; when what had it
 * goes, it passes to the row, or to the list. What is in view stays there when rows come or go
 * above it, unless the list stands at its beginning and the pointer is elsewhere.
 */
export function useLong({ count, keyOf, height }: LongOptions): Long {
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const focusedIndex = useMemo(() => indexOf(focused, count, keyOf), [focused, count, keyOf]);
  const virtualizer = useVirtualizer({
    count,
    getItemKey: keyOf,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: BEYOND,
    rangeExtractor: useCallback(
      (range: Parameters<typeof defaultRangeExtractor>[0]) => {
        const inView = defaultRangeExtractor(range);
        if (focusedIndex === null || inView.includes(focusedIndex)) return inView;
        return [...inView, focusedIndex].sort((one, other) => one - other);
      },
      [focusedIndex],
    ),
  });
  const items = virtualizer.getVirtualItems();

  /** While the pointer is over the list, a click must meet the row that it was aimed at. */
  const isPointedAt = useRef(false);
  const before = useRef({ keyOf, items });
  useLayoutEffect(() => {
    const element = scroller.current;
    const was = before.current;
    before.current = { keyOf, items };
    if (element === null || was.keyOf === keyOf) return;
    if (element.scrollTop === 0 && !isPointedAt.current) return;
    const now = new Map(virtualizer.measurementsCache.map(({ key, start }) => [key, start]));
    const kept = was.items.find(({ key, end }) => end > element.scrollTop && now.has(key));
    if (kept !== undefined) element.scrollTop += (now.get(kept.key) ?? kept.start) - kept.start;
  });
  useLayoutEffect(() => {
    if (focused === null || document.activeElement !== document.body) return;
    const row = scroller.current?.querySelector<HTMLElement>(
      `[data-index="${String(focusedIndex)}"]`,
    );
    (row ?? scroller.current)?.focus({ preventScroll: true });
    if (row == null) setFocused(null);
  });

  let end = 0;
  const drawn = items.map(({ index, start, end: next }) => {
    const gap = start - end;
    end = next;
    return { index, key: keyOf(index), gap };
  });
  return {
    drawn,
    gapAfter: virtualizer.getTotalSize() - end,
    measure: virtualizer.measureElement,
    scroller: {
      ref: scroller,
      onPointerEnter: () => {
        isPointedAt.current = true;
      },
      onPointerLeave: () => {
        isPointedAt.current = false;
      },
      onKeyDown: (event) => {
        // A browser goes there in steps, to where the end was when it began; rows that are drawn
        // on the way change that.
        if (!['Home', 'End'].includes(event.key) || isWritten(event.target)) return;
        event.preventDefault();
        if (event.key === 'Home') virtualizer.scrollToOffset(0);
        else virtualizer.scrollToIndex(count - 1, { align: 'end' });
      },
    },
    focus: {
      onFocus: ({ target, currentTarget }) => {
        // Of a sheet that was opened from a row, which passes its events on to it.
        if (!currentTarget.contains(target)) return;
        const index = target.closest('[data-index]')?.getAttribute('data-index');
        setFocused(index == null ? null : keyOf(Number(index)));
      },
      onBlur: ({ target, currentTarget, relatedTarget }) => {
        // Its row stays while a sheet that was opened from it is there.
        if (isInSheet(relatedTarget) || !currentTarget.contains(target)) return;
        // A window that is left keeps its focused element.
        if (document.activeElement !== target && !currentTarget.contains(relatedTarget))
          setFocused(null);
      },
    },
  };
}

function isInSheet(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"]') !== null;
}

function isWritten(target: EventTarget): boolean {
  return target instanceof Element && target.matches('input, textarea, select');
}

function indexOf(key: string | null, count: number, keyOf: (index: number) => string) {
  if (key === null) return null;
  for (let index = 0; index < count; index += 1) if (keyOf(index) === key) return index;
  return null;
}
