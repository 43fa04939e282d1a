/** Server-sent events as a browser reads them. */
import { eventually } from './eventually.ts';

export interface SeenEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface SeenStream {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly SeenEvent[];
  /** Of each event, in the same order. */
  readonly ids: readonly string[];
  /** The last id that was sent, with an event or without one. */
  readonly cursor: () => string;
  /** Resolves once the other side has ended it. */
  readonly ended: Promise<void>;
  /** Resolves with the first event that is so. */
  until(what: string, is: (event: SeenEvent) => boolean): Promise<SeenEvent>;
  close(): void;
}

/** Opens a stream, and reads it in the background. */
export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<SeenStream> {
  const hangUp = new AbortController();
  const response = await fetch(url, { headers, signal: hangUp.signal });
  const events: SeenEvent[] = [];
  const ids: string[] = [];
  let [left, cursor] = ['', ''];
  const take = (block: string): void => {
    const lines = block.split('\n');
    const of = (name: string): string | undefined =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    cursor = of('id') ?? cursor;
    const [event, data] = [of('event'), of('data')];
    // A beat is no change: it moves the cursor on, and no more.
    if (event === undefined || data === undefined || event === 'beat') return;
    events.push({ event, data: JSON.parse(data) as SeenEvent['data'] });
    ids.push(cursor);
  };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        const blocks = (left + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
        left = blocks.pop() ?? '';
        blocks.forEach(take);
      }
    } catch {
      // Cut, by either side.
    }
  };
  const stream = {
    status: response.status,
    headers: response.headers,
    events,
    ids,
    cursor: () => cursor,
    ended: read(),
    until: (what: string, is: (event: SeenEvent) => boolean) =>
      eventually(() => Promise.resolve(events.find(is) ?? null), { what: () => what }),
    close: () => {
      hangUp.abort();
    },
  };
  if (stream.status === 200)
    await eventually(() => Promise.resolve(cursor === '' ? null : cursor), {
      what: () => 'a first position',
    });
  return stream;
}

/** Amounts, and addresses of chains, which no event may hold. */
export function expectNothingSecret(events: readonly SeenEvent[]): void {
  expect(JSON.stringify(events)).not.toMatch(
    /0x[0-9a-fA-F]{8,}|amount|address|available|total|"[\d.]+"|\d\.\d/,
  );
}
