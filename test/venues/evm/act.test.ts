/**
 * An act of a bridge that is new here, with no line of its own against a wrong payee, a larger
 * amount or other terms: what every act is held to.
 */
import { encodeFunctionData, parseAbi, zeroAddress, type Address } from 'viem';
import type { SubmitJournal } from '../../../domain/executor.ts';
import { createActExecutor } from '../../../venues/evm/act-executor.ts';
import { actDescriptor, actReader, chainAct, type Act } from '../../../venues/evm/act.ts';
import { createEvmChains } from '../../../venues/evm/client.ts';
import { createEvmSigning } from '../../../venues/evm/signing.ts';
import { evmVenueSchema } from '../chain-schema.ts';

const [TOKEN, GATE, PAYEE, THIEF, SIGNER] = ['1', '2', '3', '4', '5'].map(
  (digit) => `0x${digit.repeat(40)}`,
) as [Address, Address, Address, Address, Address];
const VENUE = evmVenueSchema.parse({
  ...{ venue_key: 'here', provider: 'evm', chain_id: 31_337 },
  ...{ rpc_url: 'http://127.0.0.1:1', finality: 'finalized_tag' },
  tokens: [{ asset: 'USDC', address: TOKEN }],
});
const ABI = parseAbi(['function cross(address to, uint256 amount) payable']);

interface Plan {
  readonly to: Address;
  readonly amount: string;
}

/** `pays` and `moves`: what an act with a fault would pay, and would move. */
function sample({
  terms = 'gate 1',
  pays = PAYEE,
  moves,
}: { terms?: string; pays?: Address; moves?: string } = {}): Act<Plan> {
  return {
    descriptor: actDescriptor({
      ...{ executor_key: 'sample.cross', provider: 'sample', action_types: ['sample_cross'] },
      completion_assurances: ['provider_completed'],
    }),
    noun: 'crossing',
    read: ({ config, amount }) => ({ to: config['to'] as Address, amount }),
    move: ({ to, amount }) => ({
      chain_id: 31_337,
      outflow: {
        ...{ token: TOKEN, amount: moves ?? amount },
        ...{ leaves_signer: true, pays_bridge: false },
      },
      payee: { address: to, field: 'to', venue: VENUE },
      terms,
      path: {
        here: { venue: VENUE, contracts: [GATE] },
        there: { venue: VENUE, contracts: [GATE] },
      },
    }),
    effect: (_plan, { units }) => ({
      call: () => calling(pays, units),
      did: () => ({ ok: true, output: {} }),
    }),
  };
}

const calling = (to: Address, units: bigint, value = 0n) => ({
  ...{ to: GATE, value },
  data: encodeFunctionData({ abi: ABI, functionName: 'cross', args: [to, units] }),
});
const unsigned = (call: ReturnType<typeof calling>, chain_id = 31_337) => ({
  ...{ chain_id, to: call.to, value: call.value.toString(), data: call.data, gas: '1' },
  ...{ max_fee_per_gas: '1', max_priority_fee_per_gas: '1' },
});
const PLAN = { to: PAYEE, amount: '2' };
const verdict = (act: Act<Plan>, call: ReturnType<typeof calling>, chain?: number) =>
  chainAct(act, PLAN, 2n, act.effect(PLAN, { units: 2n } as never) as never).verify(
    unsigned(call, chain),
  );

describe('what is signed for an act', () => {
  it('is its call', () => {
    expect(verdict(sample(), calling(PAYEE, 2n))).toEqual({ ok: true });
  });

  it.each([
    ['another payee', calling(THIEF, 2n), 31_337],
    ['a larger amount', calling(PAYEE, 3n), 31_337],
    ['a value beside it', calling(PAYEE, 2n, 1n), 31_337],
    ['another chain', calling(PAYEE, 2n), 1],
  ])('is none with %s', (_what, call, chain) => {
    expect(verdict(sample(), call, chain)).toMatchObject({ ok: false });
  });

  it('pays whom the act says that it pays, whatever call the act makes', () => {
    expect(verdict(sample({ pays: THIEF }), calling(THIEF, 2n))).toMatchObject({
      ok: false,
      problem: expect.stringContaining('does not name'),
    });
  });
});

describe('nothing is signed for an act', () => {
  const refusal = (act: Act<Plan>, to: Address) => {
    const node = { node_key: 'n', action_type: 'sample_cross', asset: 'USDC', config: { to } };
    const intent = { asset: 'USDC', amount: '2' };
    const signed = { node, executor: undefined, intent, input_params: {}, amount: '2' };
    const planned = actReader(act)(signed, zeroAddress);
    return planned !== null && 'refusal' in planned ? planned.refusal : 'it is read by no act';
  };

  it('that is the plan’s, is not refused', () => {
    expect(refusal(sample(), PAYEE)).toBeNull();
  });

  it('that pays a contract of its destination', () => {
    expect(refusal(sample(), TOKEN)).toContain('config.to: is the token of USDC');
  });

  it('that moves more than its node', () => {
    expect(refusal(sample({ moves: '3' }), PAYEE)).toContain('would move 3');
  });

  it('is refused before a chain is read, too', async () => {
    const { preflight } = createActExecutor(createEvmChains([VENUE]), sample({ moves: '3' }), {
      facts: () => ({}),
    });
    const answer = await preflight(context(), { signal: AbortSignal.timeout(5_000) });
    expect(answer).toMatchObject({ next_state: 'FAILED', error_code: 'CONFIG_INVALID' });
  });
});

const context = () => ({
  ...{ movement_id: 'm', node_key: 'n', attempt: 1, idempotency_key: 'm:n:1' },
  ...{ action_type: 'sample_cross', asset: 'USDC', amount: '2', config: { to: PAYEE } },
  ...{ input_params: {}, intent: {}, completion_assurance: 'provider_completed' as const },
  signer: { signer_key: 's', chain_family: 'evm' as const, address: SIGNER },
});

describe('what was prepared by other terms', () => {
  const prepared = 'gate 1';
  const chains = createEvmChains([VENUE]);
  const call = { signal: AbortSignal.timeout(5_000) };

  it('is not judged by these once it is sent', async () => {
    const executor = createActExecutor(chains, sample({ terms: 'gate 2' }), { facts: () => ({}) });
    const prior = { prepared_action: { venue_entries: prepared } };
    for (const phase of ['observe', 'recover'] as const)
      await expect(
        executor[phase]({ ...context(), prior }, call, {} as SubmitJournal),
      ).rejects.toMatchObject({ kind: 'not_yet', code: 'VENUE_ENTRY_CHANGED' });
  });

  it.each([
    ['is not signed', prepared, 'gate 2', 'VENUE_ENTRY_CHANGED'],
    ['is signed under its own', prepared, 'gate 1', null],
    ['is signed where none are recorded', undefined, 'gate 2', null],
  ])('%s', async (_what, prepared_terms, terms, code) => {
    const node = { node_key: 'n', action_type: 'sample_cross', asset: 'USDC' };
    const signed = {
      ...{ node: { ...node, config: { to: PAYEE } }, executor: undefined, input_params: {} },
      ...{ intent: { asset: 'USDC', amount: '2' }, amount: '2' },
      ...(prepared_terms === undefined ? {} : { prepared_terms }),
    };
    // No transaction: the answer about it is the next one that needs no chain.
    const request = { kind: 'evm_typed_data' as const, payload: {} };
    const question = { request, from: SIGNER, foreign: false, now_ms: 0 };
    const answer = createEvmSigning(chains, [actReader(sample({ terms }))])
      .check(signed, question, call)
      .catch((fault: unknown) => fault);
    expect(await answer).toEqual(
      code === null
        ? expect.stringContaining('the plan signs a transaction')
        : expect.objectContaining({ kind: 'rejected', code }),
    );
  });
});
