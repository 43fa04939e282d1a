/** What is brought to the contracts of the destination's own entry is lost: neither lane does. */
import type { CallOptions, ExecutionContext, Executor } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { bridgeCActs, createBridgeCExecutors } from '../../venues/bridge-c/lane.ts';
import { burnMintActs, createBurnMintExecutors } from '../../venues/burn-mint/lane.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { evmVenueSchema } from './chain-schema.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';

/** An address of its own, with letters. */
const address = (n: number): string => `0x${'a'.repeat(38)}${String(n).padStart(2, '0')}`;
const venue = (chain_id: number, from: number) =>
  evmVenueSchema.parse({
    venue_key: `chain-${String(chain_id)}`,
    provider: 'evm',
    chain_id,
    // No endpoint listens there: a call that reaches it was not refused before.
    rpc_url: 'http://127.0.0.1:1',
    finality: 'finalized_tag',
    tokens: [
      { asset: 'USDC', address: address(from) },
      { asset: 'OMNI', address: address(from + 1) },
    ],
    cctp: {
      domain: from,
      token_messenger: address(from + 2),
      message_transmitter: address(from + 3),
      attester_url: 'http://127.0.0.1:1',
    },
    bridge_c: {
      eid: from,
      endpoint: address(from + 4),
      tokens: [{ asset: 'OMNI', oft: address(from + 5) }],
    },
  });
const VENUES = [venue(31_337, 10), venue(31_338, 20)];
const CHAINS = createEvmChains(VENUES);
const [burn] = createBurnMintExecutors(CHAINS, VENUES);
const [send] = createBridgeCExecutors(CHAINS, VENUES);
const SIGNER = address(1);
const call = (): CallOptions => ({ signal: AbortSignal.timeout(5_000), requestId: 'test' });
const crossing = { source_chain_id: 31_337, destination_chain_id: 31_338 };
interface Planned {
  readonly action_type: string;
  readonly asset: string;
  readonly executor: Executor | undefined;
  readonly config: JsonObject;
}
const LANES: Readonly<Record<'burn' | 'send', (payee: string) => Planned>> = {
  burn: (payee: string) => ({
    action_type: 'cctp_burn',
    asset: 'USDC',
    executor: burn,
    config: { ...crossing, token_address: address(10), mint_recipient: payee },
  }),
  send: (payee: string) => ({
    action_type: 'bridge_c_send',
    asset: 'OMNI',
    executor: send,
    config: { ...crossing, destination_address: payee },
  }),
};

/** What preflight, prepare and the fence say. */
async function answers(lane: 'burn' | 'send', payee: string): Promise<readonly string[]> {
  const { executor, action_type, asset, config } = LANES[lane](payee);
  if (executor === undefined) throw new Error('there is no executor');
  const context: ExecutionContext = {
    movement_id: 'm',
    node_key: 'n',
    attempt: 1,
    idempotency_key: 'm:n:1',
    action_type,
    asset,
    amount: '2',
    input_params: {},
    intent: {},
    config,
    completion_assurance: 'provider_completed',
    signer: { signer_key: 's', chain_family: 'evm', address: SIGNER },
  };
  const textOf = (signRequest: ReturnType<Executor['preflight']>): Promise<string> =>
    signRequest.then(
      (answer) => `${String(answer?.error_code)} ${String(answer?.error_message)}`,
      (error: unknown) => String(error),
    );
  const signing = createEvmSigning(CHAINS, [burnMintActs(VENUES), bridgeCActs(VENUES)]);
  const node = {
    node: { node_key: 'n', action_type, asset, config },
    amount: '2',
    executor: undefined,
    input_params: {},
    intent: { asset, amount: '2' },
  };
  const payload = {
    chain_id: 31_337,
    to: address(12),
    value: '0',
    data: '0x',
    gas: '1',
    max_fee_per_gas: '1',
    max_priority_fee_per_gas: '1',
  };
  const signRequest = {
    request: { kind: 'evm_transaction' as const, payload },
    from: SIGNER,
    now_ms: 0,
    foreign: false,
  };
  return [
    await textOf(executor.preflight(context, call())),
    await textOf(executor.prepare(context, call())),
    await signing.check(node, signRequest, call()).then(String, String),
  ];
}

const checksummed = (text: string): string => {
  const reading = readEvmAddress(text);
  return reading.ok ? reading.address : text;
};

describe.each(['burn', 'send'] as const)('a %s', (lane) => {
  it.each([
    ['a token', 20],
    ['the token of another asset', 21],
    ['the token messenger', 22],
    ['the message transmitter', 23],
    ['the endpoint', 24],
    ['the contract that sends', 25],
  ])('brings nothing to %s of the other chain', async (_what, which) => {
    const at = address(which);
    for (const text of [
      at,
      `0x${at.slice(2).toUpperCase()}`,
      checksummed(at),
      `0x${'0'.repeat(24)}${at.slice(2)}`,
    ]) {
      const [preflight, prepare, fence] = await answers(lane, text);
      expect(preflight).toMatch(/^CONFIG_INVALID .*lost/);
      expect(prepare).toMatch(/^CONFIG_INVALID .*lost/);
      expect(fence).toContain('lost');
    }
  });

  it('to no address is refused', async () => {
    const [preflight] = await answers(lane, `0x${'0'.repeat(40)}`);
    expect(preflight).toMatch(/^CONFIG_INVALID .*zero/);
    expect((await answers(lane, `0x${'0'.repeat(64)}`))[0]).toMatch(/^CONFIG_INVALID .*zero/);
  });

  it('to anybody else is not', async () => {
    for (const answer of await answers(lane, address(2))) expect(answer).not.toContain('lost');
  });
});
