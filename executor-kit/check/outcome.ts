/** The core of the check: does the executor report the truth after an unclear submit? */
import { setTimeout as sleep } from 'node:timers/promises';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import { wordsOf, type Action, type Bench } from './bench.ts';
import { Broken } from './broken.ts';

const ROUNDS = 20;
const BETWEEN_MS = 100;
const WRITE_FIRST =
  'Write the key to disk before you send and the reference afterwards, and let recover read both (openJournal of the kit keeps them).';

/**
 * Does what the service does after a submit without an answer: calls recover, submits again only if
 * that is allowed, observes to the end, and counts effects. `answered` is submit's answer, if the
 * caller got it after all.
 */
export async function settleOutcome(
  bench: Bench,
  action: Action,
  answered: ExecutionResult | 'landed' | 'open',
): Promise<string | void> {
  const before = answered === 'open' ? await bench.effects(action) : 1;
  await bench.settle();
  const landed = await findOrRepeat(bench, action, (before ?? 0) > 0);
  if (landed === 'person')
    return 'recover left some outcomes to a person, as an executor without same_key_safe may';
  if (typeof answered === 'object') mustMatch(answered, landed, 'recover');
  if (bench.options.sameKeySafe) await repeat(bench, action, landed);
  mustComplete(await bench.observeToEnd(action, landed));
  await mustHaveOneEffect(bench, action);
}

/** Calls recover until the outcome is clear; returns 'person' when it may stay unclear. */
async function findOrRepeat(
  bench: Bench,
  action: Action,
  isThere: boolean,
): Promise<ExecutionResult | 'person'> {
  const { sameKeySafe } = bench.options;
  let last = 'nothing';
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = await bench.recover(action);
    last = found.next_state;
    if (found.next_state === 'FAILED') {
      throw new Broken(
        `recover answered FAILED (${wordsOf(found)}) after a submit`,
        'FAILED means proven that nothing landed; answer UNKNOWN when you cannot tell.',
      );
    }
    if (found.next_state === 'READY') {
      if (isThere)
        throw new Broken(
          'recover answered READY (nothing landed) although the submit had its effect',
          WRITE_FIRST,
        );
      if (!sameKeySafe) return 'person';
      const again = await bench.submit(action).catch(noAnswer);
      if (again !== null) return again;
    } else if (found.next_state !== 'UNKNOWN') {
      return found;
    } else if (!sameKeySafe) {
      return 'person';
    }
    await sleep(BETWEEN_MS);
  }
  throw new Broken(
    `recover said ${last} ${ROUNDS} times after a submit that reached the executor`,
    WRITE_FIRST,
  );
}

/**
 * Submits again. The repeat may return the first answer or a refusal (4xx): after a refusal the
 * service calls recover.
 */
export async function repeat(bench: Bench, action: Action, first: ExecutionResult): Promise<void> {
  const again = await bench.submit(action).catch((error: unknown) => {
    if (error instanceof ExecutorFault && error.kind === 'rejected') return null;
    throw error;
  });
  if (again !== null) mustMatch(first, again, 'a repeated submit');
}

export function noAnswer(error: unknown): null {
  if (error instanceof ExecutorFault) return null;
  throw error;
}

/** Throws when two answers about one key report different effects. */
export function mustMatch(first: ExecutionResult, second: ExecutionResult, who: string): void {
  if (second.next_state === 'FAILED') {
    throw new Broken(
      `${who} answered FAILED (${wordsOf(second)}) for a submit that was accepted`,
      'Look up the key first and return the state of its first submit.',
    );
  }
  if (
    first.external_ref === undefined ||
    second.external_ref === undefined ||
    first.external_ref === second.external_ref
  )
    return;
  throw new Broken(
    `${who} gave external_ref "${second.external_ref}" after "${first.external_ref}" for the same key: a second effect`,
    'Look up the idempotency key before you send, and return the result of its first submit.',
  );
}

export function mustComplete(end: ExecutionResult): void {
  if (end.next_state === 'COMPLETED') return;
  throw new Broken(
    `the action ended ${end.next_state} (${wordsOf(end)})`,
    'Give --config, --asset and --amount with which the action can be completed.',
  );
}

/** Throws unless the key had exactly one effect, or none for an executor that never sends. */
export async function mustHaveOneEffect(bench: Bench, action: Action): Promise<void> {
  const effects = await bench.effects(action);
  if (!bench.options.sends) return mustHaveNone(effects);
  if (effects === undefined || effects === 1) return;
  const advice =
    'One key, one effect: store the key in one table with the effect, or search for the key at the provider before you send.';
  throw new Broken(`${effects} effects were counted for one key where exactly 1 was due`, advice);
}

function mustHaveNone(effects: number | undefined): void {
  if (effects === undefined || effects === 0) return;
  throw new Broken(
    `${effects} effects were counted, and the executor is declared to send nothing`,
    'Declare payees instead of "sends": false; otherwise no limit and no allowlist of the service applies to its payments.',
  );
}
