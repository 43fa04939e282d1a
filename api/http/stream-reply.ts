/** An answer that goes on: server-sent events, for as long as their reader takes them. */
import type { ServerResponse } from 'node:http';

/** What is written to a reader after the answer has started. */
export interface EventStream {
  /** Whole events. A reader who does not read is cut at {@link UNREAD_BYTES}. */
  write(text: string): void;
  /** Ends the answer, after a last text. */
  end(text?: string): void;
}

export const EVENT_STREAM = 'text/event-stream';

/** What is kept for a reader who is slow; a page that lost its stream reads everything again. */
export const UNREAD_BYTES = 1_048_576;

/**
 * Starts an answer of events. `goesOn` receives the stream, and returns what to do once it is over,
 * whoever ended it; that is called at once where the reader has already gone.
 */
export function sendStream(
  response: ServerResponse,
  { text, goesOn }: { readonly text: string; readonly goesOn: (stream: EventStream) => () => void },
): void {
  response.setHeader('Content-Type', EVENT_STREAM);
  // Proxies that keep an answer until it is whole would show nothing.
  response.setHeader('X-Accel-Buffering', 'no');
  response.flushHeaders();
  const write = (more: string): void => {
    if (response.destroyed || response.writableEnded) return;
    response.write(more);
    if (response.writableLength > UNREAD_BYTES) response.destroy();
  };
  if (text !== '') write(text);
  const over = goesOn({
    write,
    end: (last = '') => {
      write(last);
      response.end();
    },
  });
  if (response.closed || response.destroyed) over();
  else response.once('close', over);
}
