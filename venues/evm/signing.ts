/** Decides, for every executor, what a node may sign on a chain, and settles what it has signed. */
import { isDeepStrictEqual } from 'node:util';
import type { Address } from 'viem';
import {
  ExecutorFault,
  type CallOptions,
  type EvmUnsignedTransaction,
} from '../../domain/executor.ts';
import { assetOf } from '../../domain/plan/tokens.ts';
import type { SignedNode, Signing } from '../../domain/signing.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import { actReader, type ActReader, type PlannedAct, type PlannedMessage } from './act.ts';
import { APPROVE } from './approve.ts';
import { readAuthorization, verifyAuthorization } from './authorization.ts';
import { readBalance, readBlock, type EvmChains, type EvmConnection } from './client.ts';
import { layer1Fee } from './layer1-fee.ts';
import { plannedTransfer } from './planned-transfer.ts';
import { requirePreparedEntries } from '../same-entries.ts';
import { settleAct } from './settle.ts';
import { isUsed, settleAuthorization } from './settle-authorization.ts';
import { transferOn } from './transfer.ts';
import { verifyFees } from './verify-sign-request.ts';

export type { ActReader } from './act.ts';

/**
 * Returns the signing checks over the configured chains; `lanes` read the nodes that are not
 * transfers. Holds no state: the journal and the chain do.
 */
export function createEvmSigning(chains: EvmChains, lanes: readonly ActReader[] = []): Signing {
  const laneOf = (node: SignedNode, from: string): PlannedAct | PlannedMessage | null => {
    for (const read of [actReader(APPROVE), ...lanes]) {
      const planned = read(node, from as Address);
      if (planned !== null) return planned;
    }
    return null;
  };
  return {
    async check(node, checked, call) {
      const lane = plannedBy(() => laneOf(node, checked.from));
      if ('problem' in lane) return lane.problem;
      const { planned } = lane;
      const terms = planned !== null && 'terms' in planned ? planned.terms : null;
      requirePreparedEntries(node.prepared_terms, terms);
      if (planned === null) return checkTransfer(chains, node, checked, call);
      return 'typed_data' in planned
        ? checkMessage(planned, checked)
        : checkTransaction(chains, planned, checked, call);
    },
    async nextNonce(chainId, address, call) {
      const connection = await chains.open(chainId, call);
      // The lowest count: a claimed nonce never comes down again, so one wrong answer that is much
      // too high would block the lane for good. One that is too low is refused by the chain.
      const counts = await connection.all((client) =>
        client.getTransactionCount({ address: address as Address, blockTag: 'latest' }),
      );
      return Math.min(...counts);
    },
    async settle(node, { request, from, assurance, phase, journal }, call) {
      const look = { from: from as Address, assurance, call, journal, phase };
      const lane = laneOf(node, from);
      if (lane !== null && 'typed_data' in lane)
        throw new ExecutorFault('server_error', 'SIGNED_PLAN_UNREADABLE', NO_CHAIN);
      if (lane !== null) return settleAct(chains, { ...look, ...lane });
      const planned = plannedTransfer(node);
      if (!planned.ok)
        throw new ExecutorFault('server_error', 'SIGNED_PLAN_UNREADABLE', planned.problem);
      const { plan } = planned;
      if (request.kind === 'evm_typed_data') {
        const reading = readAuthorization(request.payload);
        if (!reading.ok)
          throw new ExecutorFault('server_error', 'SIGNED_PLAN_UNREADABLE', reading.problem);
        const { authorization } = reading;
        return settleAuthorization(chains, { plan, authorization, phase }, call);
      }
      return settleAct(chains, {
        chain_id: plan.chain_id,
        act: transferOn(plan, look.from),
        ...look,
      });
    },
  };
}

function plannedBy(
  read: () => ReturnType<ActReader>,
): { readonly planned: ReturnType<ActReader> } | { readonly problem: string } {
  try {
    return { planned: read() };
  } catch (error) {
    if (error instanceof ExecutorFault) return { problem: error.message };
    throw error;
  }
}

type Checked = Parameters<Signing['check']>[1];

/** Nothing is signed by decimals that the token no longer has, such as those of the prepare. */
const ANEW = { anew: true };

const NO_CHAIN =
  'the node signs a message that goes to no chain, and only our own executor can settle it';

/** Returns why the request is not exactly the planned typed data of our own executor; else null. */
function checkMessage(
  { typed_data }: PlannedMessage,
  { request, foreign }: Checked,
): string | null {
  if (foreign) return NO_CHAIN;
  if (request.kind !== 'evm_typed_data')
    return `the plan signs a message, and the request is for ${request.kind}`;
  return isDeepStrictEqual(request.payload, typed_data)
    ? null
    : 'the typed data differs from the plan and the nonce of the attempt';
}

/**
 * Returns why the request is not exactly the planned transfer of the planned asset, within the
 * venue's cap on costs; else null.
 */
async function checkTransfer(
  chains: EvmChains,
  signed: SignedNode,
  checked: Checked,
  call: CallOptions,
): Promise<string | null> {
  const planned = plannedTransfer(signed);
  if (!planned.ok) return planned.problem;
  const { plan } = planned;
  const connection = await chains.open(plan.chain_id, call, ANEW);
  const token = assetOf([connection.venue], plan.chain_id, plan.token_address);
  if (token !== signed.node.asset)
    return `the plan moves ${signed.node.asset}, and its token is ${token ?? 'not listed'}`;
  const { request, from, now_ms } = checked;
  if (request.kind !== 'evm_typed_data')
    return checkTransaction(
      chains,
      { chain_id: plan.chain_id, act: transferOn(plan, from as Address), terms: null },
      checked,
      call,
    );
  const decimals = await connection.decimals(plan.token_address);
  const clock = BigInt(Math.floor(now_ms / 1000));
  const reading = readAuthorization(request.payload);
  if (!reading.ok)
    return `a transfer may sign typed data only as an EIP-3009 authorization: ${reading.problem}`;
  const { authorization } = reading;
  const { number, timestamp: now } = await readBlock(connection, 'latest');
  const verdict = verifyAuthorization(authorization, { plan, decimals, from, now, clock });
  if (!verdict.ok) return verdict.problem;
  return (await isUsed(connection, authorization, number))
    ? 'the nonce of the authorization is used'
    : null;
}

/** Returns why the request is not exactly the act, within the venue's cap on costs; else null. */
async function checkTransaction(
  chains: EvmChains,
  { chain_id, act, refusal = null }: PlannedAct,
  { request, from, foreign }: Checked,
  call: CallOptions,
): Promise<string | null> {
  if (refusal !== null) return refusal;
  if (request.kind !== 'evm_transaction')
    return `the plan signs a transaction, and the request is for ${request.kind}`;
  const reading = readUnsignedTransaction(request.payload);
  if (!reading.ok) return `the transaction is malformed: ${reading.problem}`;
  const { unsigned } = reading;
  const connection = await chains.open(chain_id, call, ANEW);
  const { max_gas_cost_wei } = connection.venue;
  // The fees are checked first, since this check needs no call.
  const fees = verifyFees(unsigned, { max_gas_cost_wei });
  if (!fees.ok) return fees.problem;
  const planned = await act(connection);
  if (planned.refusal !== undefined) throw planned.refusal;
  const verdict = planned.verify(unsigned);
  if (!verdict.ok) return verdict.problem;
  const layer1_fee_wei = await layer1Fee(connection, unsigned);
  const whole = verifyFees(unsigned, { max_gas_cost_wei, layer1_fee_wei });
  if (!whole.ok) return whole.problem;
  return foreign ? neverMined(connection, from as Address, unsigned, layer1_fee_wei) : null;
}

/** Most gas of one transaction (EIP-7825). */
const MOST_GAS = 2n ** 24n;

/**
 * Returns why no block would include the transaction; else null. A signed transaction that cannot
 * be mined would block its nonce lane until it is cancelled, and forever at the fee cap.
 */
async function neverMined(
  connection: EvmConnection,
  from: Address,
  unsigned: EvmUnsignedTransaction,
  beneath: bigint,
): Promise<string | null> {
  const [gas, least] = [BigInt(unsigned.gas), leastGas(unsigned.data)];
  if (gas < least) return `gas ${gas} is below the ${least} that any block requires for it`;
  if (gas > MOST_GAS) return `gas ${gas} is above the ${MOST_GAS} that one transaction may use`;
  const needed = BigInt(unsigned.value) + gas * BigInt(unsigned.max_fee_per_gas) + beneath;
  const holds = await readBalance(connection, { owner: from, token: null });
  return holds >= needed
    ? null
    : `the transaction may need ${needed} wei, and its signer has ${holds}: no block would include it`;
}

/**
 * Returns the gas charged before execution: 21,000, and for each byte of data 16, or 4 if the byte
 * is zero (EIP-2028); at least 10 for each token, as EIP-7623 counts tokens.
 */
function leastGas(data: string): bigint {
  const bytes = data.slice(2).match(/../g) ?? [];
  const zeros = bytes.filter((byte) => byte === '00').length;
  const tokens = zeros + 4 * (bytes.length - zeros);
  return BigInt(21_000 + Math.max(4 * tokens, 10 * tokens));
}
