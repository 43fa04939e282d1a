/** What must be true of capital transfers after a run. */
import { compare } from '../../domain/money.ts';
import type { CapitalEvidence, Evidence } from './evidence.ts';

/** Each accepted transfer exists once; a refused or never requested one does not exist. */
export function transfersAreOnce({ capitalLives, capital }: Evidence): readonly string[] {
  const wrong = capitalLives.flatMap(
    ({ idempotency_key, transfer_id, refused, body, complaints }) => {
      const found = capital.filter((each) => each.idempotency_key === idempotency_key);
      const [only] = found;
      if (refused !== null)
        return found.length === 0
          ? complaints
          : [`${idempotency_key} was refused (${refused}) and is there`];
      if (only === undefined || found.length > 1 || only.transfer_id !== transfer_id) {
        return [
          `${idempotency_key} is ${found.map((each) => each.transfer_id).join(', ') || 'nowhere'}, not ${String(transfer_id)}`,
        ];
      }
      return compare(only.amount, body.amount) === 0
        ? complaints
        : [`${only.transfer_id} moves ${only.amount}, not ${body.amount}`];
    },
  );
  const keys = new Set(capitalLives.map(({ idempotency_key }) => idempotency_key));
  const strange = capital.filter(({ idempotency_key }) => !keys.has(idempotency_key));
  return [...wrong, ...strange.map(({ transfer_id }) => `no caller requested ${transfer_id}`)];
}

/**
 * Each has ended as the record of its provider says, moved once at most, or waits for a person with
 * its hold.
 */
export function transfersEndAsRecorded({ capital }: Evidence): readonly string[] {
  return capital.flatMap((each) =>
    [...endOf(each), ...storyOf(each)].map((wrong) => `${each.transfer_id} ${wrong}`),
  );
}

function endOf({
  request_state,
  amount,
  hold,
  run_status,
  record,
}: CapitalEvidence): readonly string[] {
  const effects = record?.effects ?? 0;
  const expected = {
    COMPLETED: ['consumed', 1],
    FAILED: ['released', 0],
    MANUAL_INTERVENTION: ['held', null],
  }[request_state];
  if (expected === undefined) return [`is still ${request_state}`];
  const [holding, moved] = expected;
  return [
    ...(hold === holding ? [] : [`is ${request_state}, its hold is ${hold ?? 'missing'}`]),
    ...(effects > 1 || (moved !== null && effects !== moved)
      ? [`is ${request_state} and was moved ${effects} times`]
      : []),
    ...(record === null || compare(record.amount, amount) === 0
      ? []
      : [`is of ${amount}, its record of ${record.amount}`]),
    ...(request_state !== 'MANUAL_INTERVENTION' && run_status === 'RUNNING'
      ? [`has ended ${request_state}, its run has not`]
      : []),
  ];
}

function storyOf({ request_state, timeline }: CapitalEvidence): readonly string[] {
  const gaps = timeline.filter(({ sequence }, at) => sequence !== at + 1);
  const jumps = timeline.filter(
    ({ from_state }, at) => from_state !== (timeline[at - 1]?.to_state ?? null),
  );
  const last = timeline.at(-1)?.to_state ?? null;
  return [
    ...(gaps.length === 0 ? [] : ['has a gap in its timeline']),
    ...(jumps.length === 0 ? [] : ['jumps in its timeline']),
    ...(last === request_state
      ? []
      : [`is ${request_state}, its timeline ends in ${last ?? 'nothing'}`]),
  ];
}
