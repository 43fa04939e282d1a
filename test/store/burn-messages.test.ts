/** One message of a bridge completes one burn, whoever asks and how often. */
import { pino } from 'pino';
import { encodePacked, keccak256, toHex, type Hex } from 'viem';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { observe } from '../../activities/phases/observe.ts';
import { withOwnMessage } from '../../activities/phases/own-message.ts';
import { recover } from '../../activities/phases/recover.ts';
import { submit } from '../../activities/phases/submit.ts';
import type { ExecutionResult } from '../../domain/executor.ts';
import { readPhase, type PhaseRow } from '../../store/phases.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { startStoreBench, type StoreBench } from './support.ts';

let bench: StoreBench;
beforeAll(async () => {
  bench = await startStoreBench();
}, 60_000);
afterAll(() => bench?.close(), 30_000);

/** A message of this source domain and nonce; nothing else of it is of interest here. */
const message = (domain: number, nonce: string): Hex => {
  const head = encodePacked(['uint32', 'uint32', 'uint32'], [1, domain, 7]);
  const rest = `${'00'.repeat(104)}00000001${'00'.repeat(224)}`;
  return `${head}${keccak256(toHex(nonce)).slice(2)}${rest}`;
};

interface Burn {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
}

async function burn(): Promise<Burn> {
  const { movement_id } = await bench.movement();
  return { movement_id, node_key: 'burn', attempt: 1 };
}

/** What comes of it when the burn's executor says this. */
async function said(of: Burn, bytes: Hex, more: Partial<ExecutionResult> = {}, type = 'cctp_burn') {
  const row = { ...of, node: { action_type: type } } as unknown as PhaseRow;
  const answer: ExecutionResult = {
    ...{ next_state: 'COMPLETED', output: { attested_message: bytes } },
    ...more,
  };
  const given = await withOwnMessage({ db: bench.db }, row, { answer });
  return 'fault' in given ? given.fault.code : given.answer?.next_state;
}

test('a burn is not completed with the message that has completed another', async () => {
  const [first, second] = [await burn(), await burn()];
  const bytes = message(6, 'one');
  expect(await said(first, bytes)).toBe('COMPLETED');
  expect(await said(second, bytes)).toBe('ATTESTATION_MISMATCH');
  expect(await said({ ...first, node_key: 'other' }, bytes)).toBe('ATTESTATION_MISMATCH');
  const upper = `0x${bytes.slice(2).toUpperCase()}` as const;
  expect(await said(second, upper)).toBe('ATTESTATION_MISMATCH');
  // Its own is still its own: looked at again, and in a later attempt of the node.
  expect(await said(first, bytes)).toBe('COMPLETED');
  expect(await said({ ...first, attempt: 2 }, bytes)).toBe('COMPLETED');
  expect(await said(second, message(6, 'two'))).toBe('COMPLETED');
  // Of another chain the same nonce is another message.
  expect(await said(second, message(5, 'one'))).toBe('COMPLETED');
});

test('one of two that ask at once has it', async () => {
  const burns = await Promise.all(Array.from({ length: 8 }, () => burn()));
  const bytes = message(6, 'at once');
  const answers = await Promise.all(burns.map((each) => said(each, bytes)));
  expect(answers.filter((each) => each === 'COMPLETED')).toHaveLength(1);
});

test('nothing else is claimed', async () => {
  const [first, second] = [await burn(), await burn()];
  const bytes = message(6, 'not yet');
  expect(await said(first, bytes, { next_state: 'OBSERVING' })).toBe('OBSERVING');
  expect(await said(first, bytes, {}, 'cctp_mint')).toBe('COMPLETED');
  expect(await said(second, bytes)).toBe('COMPLETED');
});

describe('a node that burns', () => {
  const phases = { submit, observe, recover };

  /** The state of a burn in `from` whose executor says to this phase that it is completed. */
  async function after(
    phase: keyof typeof phases,
    from: string,
    bytes: Hex,
    more: { readonly from_unknown?: boolean } = {},
  ): Promise<string> {
    const node = { node_key: 'burn', node_kind: 'action', action_type: 'cctp_burn' } as const;
    const { movement_id } = await bench.movement({
      shape: { nodes: [{ ...node, has_side_effect: true, config: {} }], edges: [] },
    });
    await bench.sql(
      "UPDATE movements SET request_state = 'EXECUTING' WHERE movement_id = $1::uuid",
      movement_id,
    );
    await bench.sql(
      `UPDATE movement_nodes SET state = $2, amount = 3, submitted_at = svc_now()
        WHERE movement_id = $1::uuid`,
      ...[movement_id, from],
    );
    const deps: PhaseDependencies = {
      ...{ db: bench.db, log: pino({ level: 'silent' }), chains: [] },
      executors: { get: () => undefined, describe: () => undefined },
      signers: { get: () => undefined },
      signing: createEvmSigning(createEvmChains([])),
    };
    const row = await readPhase(bench.db, movement_id, 'burn');
    if (row === null) throw new Error('there is no such node');
    const answer = { next_state: 'COMPLETED', output: { attested_message: bytes } } as const;
    // What is asked again is thrown.
    await phases[phase]
      .finish(deps, { movement_id, node_key: 'burn', attempt: 1, ...more }, row, { answer })
      .catch(() => null);
    return (await readPhase(bench.db, movement_id, 'burn'))?.state ?? '';
  }

  test.each([
    ['submit', 'SUBMITTING', {}],
    ['observe', 'OBSERVING', {}],
    ['recover', 'SUBMITTING', {}],
    ['recover', 'UNKNOWN', { from_unknown: true }],
  ] as const)(
    'is completed by %s, in %s, with no message of another',
    async (phase, from, more) => {
      const bytes = message(6, `${phase} ${from}`);
      expect(await after(phase, from, bytes, more)).toBe('COMPLETED');
      expect(await after(phase, from, bytes, more)).toBe(from);
    },
  );
});
