/**
 * Combines many small requests into few calls. Requests that arrive in one turn of the event loop
 * share a call; requests that arrive while calls run are collected for the next one. A single
 * request does not wait.
 */

export interface GatherOptions<Ask, Answer> {
  /** Maximum number of calls at the same time. */
  readonly calls: number;
  /** Maximum number of requests in one call. */
  readonly most: number;
  /** Returns the results for the requests of one call, in order. A failure fails all of them. */
  readonly serve: (asks: readonly Ask[]) => Promise<readonly Answer[]>;
}

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that makes one request. A call starts only after all of its requests were
 * made.
 */
export function gather<Ask, Answer>({
  calls,
  most,
  serve,
}: GatherOptions<Ask, Answer>): (ask: Ask) => Promise<Answer> {
  const queue: Waiting<Ask, Answer>[] = [];
  let active = 0;
  let planned = false;

  const next = (): void => {
    while (active < calls && queue.length > 0) {
      active += 1;
      void call(queue.splice(0, most)).finally(() => {
        active -= 1;
        next();
      });
    }
  };

  const call = async (batch: readonly Waiting<Ask, Answer>[]): Promise<void> => {
    try {
      const answers = await serve(batch.map(({ ask }) => ask));
      if (answers.length !== batch.length)
        throw new Error(`${batch.length} asks got ${answers.length} answers`);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return (ask) =>
    new Promise((resolve, reject) => {
      queue.push({ ask, resolve, reject });
      if (planned || active >= calls) return;
      planned = true;
      // setImmediate lets requests from sockets that the event loop is reading now join this call.
      setImmediate(() => {
        planned = false;
        next();
      });
    });
}
