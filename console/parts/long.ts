/** Renders only some rows of a long list: those in view, and the row with the focus. */
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
  type UIEvent,
} from 'react';

/** Up to this number of rows, all rows are rendered. */
export const FEW = 50;

/** Assumed height of a table row until it was rendered once, in pixels. */
export const ROW_HEIGHT = 60;

/** Rows rendered beyond the view at each end, so that Tab finds the next row. */
const BEYOND = 4;

export interface LongOptions {
  readonly count: number;
  /**
   * Returns the unique key of the row at an index. A row keeps its key when the list changes. A new
   * function means that the rows changed.
   */
  readonly keyOf: (index: number) => string;
  /**
   * Assumed height of a row until it was rendered once, in pixels. A too small value renders too
   * many rows.
   */
  readonly height: number;
}

export interface DrawnRow {
  readonly index: number;
  readonly key: string;
  /**
   * Height of the rows left out before this row, in pixels; 0 when the previous row is rendered.
   */
  readonly gap: number;
}

export interface Long {
  /** Properties for the element that scrolls. */
  readonly scroller: {
    readonly ref: RefObject<HTMLDivElement | null>;
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onPointerEnter: () => void;
    readonly onPointerLeave: () => void;
    readonly onPointerDown: () => void;
    readonly onWheel: () => void;
    readonly onScrollEnd: (event: UIEvent<HTMLDivElement>) => void;
  };
  readonly drawn: readonly DrawnRow[];
  /** Height of the rows left out after the last rendered row, in pixels. */
  readonly gapAfter: number;
  /** `ref` for each row's element, which also needs `data-index` and must be focusable. */
  readonly measure: (element: Element | null) => void;
  /** Properties for the element around the rows. */
  readonly focus: {
    readonly onFocus: (event: FocusEvent) => void;
    readonly onBlur: (event: FocusEvent) => void;
  };
}

/**
 * Returns which rows to render. The focus stays on its element while that row is scrolled away or
 * moved by a change; when the focused element disappears, the focus moves to its row, or to the
 * list. Rows in view stay in place when rows are added or removed above them, unless the list is
 * scrolled to its start and the pointer is elsewhere.
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

  /**
   * While the pointer is over the list, rows must not move, so that a click hits the intended row.
   */
  const isPointedAt = useRef(false);
  /**
   * Home was the last that moved the list. A slow browser adds what was left of an earlier scroll,
   * such as that of PageDown.
   */
  const goesHome = useRef(false);
  const before = useRef({ keyOf, items });
  useLayoutEffect(() => {
    const element = scroller.current;
    const was = before.current;
    before.current = { keyOf, items };
    if (element === null || was.keyOf === keyOf) return;
    if (element.scrollTop === 0 && !isPointedAt.current) return;
    goesHome.current = false;
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
      onPointerDown: () => {
        goesHome.current = false;
      },
      onWheel: () => {
        goesHome.current = false;
      },
      onScrollEnd: ({ currentTarget }) => {
        if (goesHome.current && currentTarget.scrollTop > 0) currentTarget.scrollTop = 0;
      },
      onKeyDown: (event) => {
        goesHome.current = false;
        // A browser scrolls in steps to where the end was at the key press; rows that are rendered
        // on the way move that end. The virtualizer follows a row, but not an offset: it moves the
        // offset with what it measures above.
        if (!['Home', 'End'].includes(event.key) || isWritten(event.target)) return;
        event.preventDefault();
        goesHome.current = event.key === 'Home';
        if (goesHome.current) virtualizer.scrollToIndex(0, { align: 'start' });
        else virtualizer.scrollToIndex(count - 1, { align: 'end' });
      },
    },
    focus: {
      onFocus: ({ target, currentTarget }) => {
        // React also passes on focus events of a sheet that was opened from a row; those are
        // ignored.
        if (!currentTarget.contains(target)) return;
        const index = target.closest('[data-index]')?.getAttribute('data-index');
        setFocused(index == null ? null : keyOf(Number(index)));
      },
      onBlur: ({ target, currentTarget, relatedTarget }) => {
        // The row stays focused while a sheet that was opened from it is open.
        if (isInSheet(relatedTarget) || !currentTarget.contains(target)) return;
        // When the browser window loses the focus, its focused element stays the same.
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
