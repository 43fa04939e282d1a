/** Shows text that callers, executors or venues wrote. */
import { useState } from 'react';
import { visiblePieces } from './visible.ts';

const SHOWN = 280;

/**
 * Shows untrusted text: isolates its writing direction, shows hidden characters by their code, and
 * shortens a long text until the reader asks for all of it.
 */
export function Text({ children, most = SHOWN }: { children: string; most?: number }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = children.length > most;
  const shown = isLong && !isWhole ? children.slice(0, most) : children;
  return (
    <span className="text">
      <bdi>
        {visiblePieces(shown).map(({ text, hidden }, index) =>
          hidden ? (
            <span key={index} className="hidden-character" title="A character that shows nothing">
              {text}
            </span>
          ) : (
            text
          ),
        )}
      </bdi>
      {isLong && (
        <>
          {!isWhole && '… '}
          <button type="button" className="link" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show less' : `Show all ${String(children.length)} characters`}
          </button>
        </>
      )}
    </span>
  );
}
