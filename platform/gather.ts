/**
 * Serves many small asks with few calls: asks that arrive in one turn of the event loop share a
 * call, and while calls are under way the next ones gather. A single ask does not wait.
 */

export interface GatherOptions<Ask, Answer> {
  /** Calls under way at once. */
  readonly calls: number;
  /** Asks in one call at most. */
  readonly most: number;
  /** Answers the asks of one call in their order. When it fails, each of them has failed. */
  readonly serve: (asks: readonly Ask[]) => Promise<readonly Answer[]>;
}

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Answers a function that asks once; a call begins after every ask that it serves. */
export function gather<Ask, Answer>({
  calls,
  most,
  serve,
}: GatherOptions<Ask, Answer>): (ask: Ask) => Promise<Answer> {
  const queue: Waiting<Ask, Answer>[] = [];
  let active = 0;
  let planned = false;

  const next = (): void => {
    if (active >= calls || queue.length === 0) return;
    active += 1;
    void call(queue.splice(0, most)).finally(() => {
      active -= 1;
      next();
    });
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
      // Asks from sockets that the event loop reads now still join this call.
      setImmediate(() => {
        planned = false;
        next();
      });
    });
}
