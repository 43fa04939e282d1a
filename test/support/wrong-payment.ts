/** Two movements that wait for the same payment, of which the wrong one was completed with it. */
import { randomUUID } from 'node:crypto';
import { createWalletClient, http, parseEther, publicActions } from 'viem';
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { MNEMONIC } from '../../dev/simulators/chain/accounts.ts';
import {
  approve,
  create,
  detail,
  gate,
  post,
  reaches,
  registered,
  shared,
  waitFor,
  type NodeBody,
} from './http.ts';

/** The account that pays; test files that make payments take turns with it (`alone`). */
export const PAYER = 'account 9 of the chain';

export interface WrongPayment {
  /** Was completed with the payment; a gate waits behind. */
  readonly holder: string;
  /** Waits for it. */
  readonly target: string;
  /** Where both wait, in lower case. */
  readonly address: string;
  /** Pays as much there once more; the block. */
  readonly pay: () => Promise<bigint>;
}

/** `behind`: what follows the node in the holder's plan; `namespace`: whose templates both are. */
export async function wrongPayment(
  behind: readonly NodeBody[] = [gate('release')],
  namespace = 'tests',
): Promise<WrongPayment> {
  const client = createWalletClient({
    account: mnemonicToAccount(MNEMONIC, { addressIndex: 9 }),
    transport: http(shared.chain.rpcUrl),
  }).extend(publicActions);
  const { address } = privateKeyToAccount(generatePrivateKey());
  const pay = async (): Promise<bigint> => {
    const hash = await client.sendTransaction({
      chain: null,
      to: address,
      value: parseEther(AMOUNT),
    });
    return (await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })).blockNumber;
  };
  const arrive: NodeBody = {
    node_key: 'arrive',
    node_kind: 'observe',
    action_type: 'evm_balance_observe',
    executor_selector: { action_type: 'evm_balance_observe', chain_family: 'evm' },
    config: { chain_id: shared.chain.chainId, address, min_increase: '1' },
  };
  const waits = async (nodes: readonly NodeBody[]): Promise<string> => {
    const intent = { asset: 'ETH', amount: AMOUNT };
    const template_key = `${namespace}/${randomUUID()}`;
    const made = await create(await registered(nodes, { template_key }), { intent });
    await approve(made);
    await shows(made.movement_id, hasBaseline);
    return made.movement_id;
  };
  const [holder, target] = [await waits([arrive, ...behind]), await waits([arrive])];
  const { output } = await shows(holder, hasBaseline);
  const until = String(await pay());
  for (const id of [holder, target])
    await shows(id, ({ error_code }) => error_code === 'PAYMENT_AMBIGUOUS');
  const coin = {
    source: `evm:${String(shared.chain.chainId)}:coin`,
    reference: address.toLowerCase(),
    amount: AMOUNT,
    total: AMOUNT,
    since: output?.['baseline_block'],
    until,
  };
  let last = '';
  // The chain is read, and what is not final yet counts for nothing.
  await waitFor(
    async () => {
      const { status, body } = await post(`/movements/${holder}/nodes/arrive/actions/resolve`, {
        outcome: 'completed',
        reason: 'it was taken for ours',
        evidence: { letter: 1 },
        output: { received_amount: AMOUNT, payments: [coin] },
      });
      last = JSON.stringify(body);
      return status === 200;
    },
    { what: () => `its payment to be final: ${last}` },
  );
  await reaches(holder, 'WAITING_MANUAL_ACTION');
  return { holder, target, address: coin.reference, pay };
}

const AMOUNT = '5';

export const hasBaseline = ({ output }: Shown): boolean =>
  output?.['baseline_amount'] !== undefined;

export interface Shown {
  readonly state: string;
  readonly error_code: string | null;
  readonly output: Readonly<Record<string, unknown>> | null;
}

/** Waits until the node that waits for the payment shows this. */
export function shows(movementId: string, isSo: (node: Shown) => boolean): Promise<Shown> {
  let last = '';
  return waitFor(
    async () => {
      const { nodes } = await detail(movementId);
      const node = nodes.find(({ node_key }) => node_key === 'arrive') as unknown as Shown;
      last = JSON.stringify(node);
      return isSo(node) && node;
    },
    { what: () => `another node than ${last}` },
  );
}

/** What a person says of whose it is. */
export const reassignment = (target: string) => ({
  to_movement_id: target,
  to_node_key: 'arrive',
  reason: 'the sender named the other invoice',
  evidence: { letter: '2026-11-25' },
});
