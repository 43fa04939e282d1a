/** What may be signed for a node on a chain, and what becomes of it, whoever asked for it. */
import type { Address } from 'viem';
import { ExecutorFault, type CallOptions, type SignRequest } from '../../domain/executor.ts';
import { assetOf } from '../../domain/plan/tokens.ts';
import type { SignedNode, Signing } from '../../domain/signing.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import { readAuthorization, verifyAuthorization } from './authorization.ts';
import { readBlock, type EvmChains } from './client.ts';
import { layer1Fee } from './layer1-fee.ts';
import { plannedTransfer } from './planned-transfer.ts';
import { settleTransfer } from './settle.ts';
import { isUsed, settleAuthorization } from './settle-authorization.ts';
import { verifyEvmTransfer } from './verify-sign-request.ts';

/** Over the configured chains. It keeps nothing: the journal and the chain do. */
export function createEvmSigning(chains: EvmChains): Signing {
  return {
    check: (node, asked, call) => checkSignRequest(chains, node, asked, call),
    async nextNonce(chainId, address, call) {
      const connection = await chains.open(chainId, call);
      return connection.ask((client) =>
        client.getTransactionCount({ address: address as Address, blockTag: 'latest' }),
      );
    },
    async settle(node, { request, from, assurance, phase, journal }, call) {
      const planned = plannedTransfer(node);
      if (!planned.ok)
        throw new ExecutorFault('server_error', 'SIGNED_PLAN_UNREADABLE', planned.problem);
      const { plan } = planned;
      if (request.kind === 'evm_typed_data') {
        const reading = readAuthorization(request.payload);
        if (!reading.ok)
          throw new ExecutorFault('server_error', 'SIGNED_PLAN_UNREADABLE', reading.problem);
        const { authorization } = reading;
        return settleAuthorization(chains, { plan, authorization, assurance, phase }, call);
      }
      return settleTransfer(chains, {
        plan,
        from: from as Address,
        assurance,
        call,
        journal,
        phase,
      });
    },
  };
}

/**
 * Exactly the planned transfer, of the planned asset, that may cost no more than the venue allows.
 */
async function checkSignRequest(
  chains: EvmChains,
  signed: SignedNode,
  { request, from }: { readonly request: SignRequest; readonly from: string },
  call: CallOptions,
): Promise<string | null> {
  const planned = plannedTransfer(signed);
  if (!planned.ok) return planned.problem;
  const { plan } = planned;
  const connection = await chains.open(plan.chain_id, call);
  const { venue } = connection;
  const token = assetOf([venue], plan.chain_id, plan.token_address);
  if (token !== signed.node.asset)
    return `the plan moves ${signed.node.asset}, and its token is ${token ?? 'not listed'}`;
  const decimals = await connection.decimals(plan.token_address);
  if (request.kind === 'evm_typed_data') {
    const reading = readAuthorization(request.payload);
    if (!reading.ok)
      return `typed data is signed for a transfer by authorization alone: ${reading.problem}`;
    const { authorization } = reading;
    const { timestamp: now } = await readBlock(connection, 'latest');
    const verdict = verifyAuthorization(authorization, { plan, decimals, from, now });
    if (!verdict.ok) return verdict.problem;
    return (await isUsed(connection, authorization))
      ? 'the nonce of the authorization is used'
      : null;
  }
  const expected = { ...plan, decimals, max_gas_cost_wei: venue.max_gas_cost_wei };
  const own = verifyEvmTransfer(request, expected);
  // What cannot be signed anyway is not asked about.
  const reading = own.ok ? readUnsignedTransaction(request.payload) : null;
  const verdict = reading?.ok
    ? verifyEvmTransfer(request, {
        ...expected,
        layer1_fee_wei: await layer1Fee(connection, reading.unsigned),
      })
    : own;
  return verdict.ok ? null : verdict.problem;
}
