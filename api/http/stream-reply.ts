/** Streamed replies: server-sent events until the reader leaves. */
import type { ServerResponse } from 'node:http';

/** Writes events to a reader after the reply has started. */
export interface EventStream {
  /** Writes whole events. A slow reader is disconnected at {@link UNREAD_BYTES}. */
  write(text: string): void;
  /** Writes a last text and ends the reply. */
  end(text?: string): void;
}

export const EVENT_STREAM = 'text/event-stream';

/** Maximum unread bytes of a slow reader; a page that lost its stream reads everything again. */
export const UNREAD_BYTES = 1_048_576;

/**
 * Starts a reply of events. `goesOn` receives the stream and returns a cleanup function. That
 * function runs when either side ends the stream, or at once when the reader has already left.
 */
export function sendStream(
  response: ServerResponse,
  { text, goesOn }: { readonly text: string; readonly goesOn: (stream: EventStream) => () => void },
): void {
  response.setHeader('Content-Type', EVENT_STREAM);
  // Turns off buffering in proxies: a proxy that waits for the whole reply would show nothing.
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
