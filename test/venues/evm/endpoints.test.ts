/** Several endpoints of one chain: one may be silent or lie, and nothing is believed absent. */
import { createEvmTransferExecutor } from '../../../venues/evm/transfer.ts';
import { isHeld, readReceipt } from '../../../venues/evm/client.ts';
import { createEvmSigning } from '../../../venues/evm/signing.ts';
import { agreedFate } from '../../../venues/evm/nonce-proof.ts';
import { CHAIN_ID, startChain, type TestChain } from './support/chain.ts';
import { CUT, startLiar, type Liar } from './support/liar.ts';
import { call, chainsOf, contextOf, driveToSend } from './support/node.ts';

let chain: TestChain;
let one: Liar;
let other: Liar;
beforeAll(async () => {
  chain = await startChain();
  [one, other] = await Promise.all([startLiar(chain.url), startLiar(chain.url)]);
});
afterAll(async () => {
  await Promise.all([one?.stop(), other?.stop()]);
  await chain?.stop();
});
afterEach(() => {
  for (const liar of [one, other]) liar.twist((_request, answer) => answer);
});

const both = () => chainsOf({ url: one.url }, { more_rpc_urls: [other.url] });
const opened = () => both().open(CHAIN_ID, call());
const cut = () => CUT;
/** Nothing is there. */
const blind = ({ method }: { readonly method: string }, answer: unknown): unknown =>
  method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash' ? null : answer;

/** A transfer that is in a final block. */
async function mined() {
  const account = await chain.account();
  const destination = await chain.account();
  const executor = createEvmTransferExecutor(both());
  const context = contextOf(account, {
    token_address: chain.token,
    destination_address: destination.address,
  });
  const driven = await driveToSend(executor, context, account);
  await driven.submit();
  const hash = driven.signed.tx_hash as `0x${string}`;
  await chain.mined(hash);
  await chain.finalize();
  return { account, hash, executor, context, journal: driven.journal };
}

test('a silent endpoint is passed over, for reads and for sends', async () => {
  one.twist(cut);
  const { hash } = await mined();
  expect(await readReceipt(await opened(), hash)).toMatchObject({ status: 'success' });
  one.twist((_request, answer) => answer);
  other.twist(cut);
  expect(await isHeld(await opened(), hash)).toBe(true);
});

const frozen = { ends: false, needs_retry: false, why: 'frozen' };

/** Signed and stored, and sent to no endpoint. */
async function signed() {
  const account = await chain.account();
  const executor = createEvmTransferExecutor(both());
  const context = contextOf(account, {
    token_address: chain.token,
    destination_address: (await chain.account()).address,
  });
  return { executor, context, ...(await driveToSend(executor, context, account)) };
}

test('the next endpoint gets nothing that is stopped while the first one is silent', async () => {
  const { journal, submit } = await signed();
  let reads = 0;
  one.twist(({ method }, answer) => {
    if (method !== 'eth_sendRawTransaction') return answer;
    reads += 1;
    journal.stop = frozen;
    return CUT;
  });
  other.twist(({ method }, answer) => {
    if (method === 'eth_sendRawTransaction') reads += 1;
    return answer;
  });
  await expect(submit()).rejects.toMatchObject({ code: 'SEND_HELD' });
  expect(reads).toBe(1);
});

test('what is stopped between the first question and the send stays here', async () => {
  const { signed: bytes, journal, executor, context } = await signed();
  let reads = 0;
  journal.held = () => Promise.resolve(reads++ === 0 ? null : frozen);
  await expect(executor.recover(context, call(), journal)).rejects.toMatchObject({
    kind: 'not_yet',
    code: 'SEND_HELD',
  });
  expect(reads).toBe(2);
  expect(await isHeld(await opened(), bytes.tx_hash as `0x${string}`)).toBe(false);
});

test('one that falls silent in the middle of a call is passed over too', async () => {
  const connection = await opened();
  one.twist(cut);
  other.twist((_request, answer) => answer);
  expect(await connection.ask((client) => client.getBlockNumber())).toBeGreaterThan(0n);
});

test('what one does not find is looked up at the other', async () => {
  const { hash } = await mined();
  one.twist(blind);
  expect(await readReceipt(await opened(), hash)).toMatchObject({ status: 'success' });
  other.twist(blind);
  expect(await readReceipt(await opened(), hash)).toBeNull();
});

test('nothing counts as not found while the second is silent', async () => {
  const { hash } = await mined();
  one.twist(blind);
  other.twist(cut);
  await expect(readReceipt(await opened(), hash)).rejects.toMatchObject({
    code: 'NOT_FOUND_UNCONFIRMED',
  });
});

test('an endpoint of another chain stops everything, whichever it is', async () => {
  for (const liar of [one, other]) {
    liar.twist(({ method }, answer) => (method === 'eth_chainId' ? '0x1' : answer));
    await expect(opened()).rejects.toMatchObject({ code: 'CHAIN_ID_MISMATCH', kind: 'rejected' });
    liar.twist((_request, answer) => answer);
  }
});

test('the next nonce is the lowest that an endpoint counts, and silence of one counts nothing', async () => {
  const { account } = await mined();
  const next = () => createEvmSigning(both()).nextNonce(CHAIN_ID, account.address, call());
  for (const liar of [one, other]) {
    liar.twist(({ method }, answer) => (method === 'eth_getTransactionCount' ? '0xf4240' : answer));
    expect(await next()).toBe(1);
    liar.twist(cut);
    expect(await next()).toBe(1);
    liar.twist((_request, answer) => answer);
  }
});

test('a nonce that only counts as used is no proof: the transaction that used it has to be shown', async () => {
  const { account } = await mined();
  // Nonce 1 is free; both endpoints count one transaction too many.
  for (const liar of [one, other])
    liar.twist(({ method }, answer) =>
      method === 'eth_getTransactionCount' ? `0x${(Number(answer) + 1).toString(16)}` : answer,
    );
  expect(await agreedFate(await opened(), account.address, 1)).toEqual({ kind: 'unprovable' });
});

test('a payment is not abandoned when endpoints hide it and count too many', async () => {
  const { executor, context, journal, hash } = await mined();
  for (const liar of [one, other]) liar.twist(blind);
  // It is in a final block: the account's transaction with this nonce is its own.
  await expect(executor.recover(context, call(), journal)).rejects.toMatchObject({
    code: 'RECEIPT_MISSING',
  });
  expect(journal.released).toEqual([]);
  for (const liar of [one, other]) liar.twist((_request, answer) => answer);
  expect(await executor.recover(context, call(), journal)).toMatchObject({
    next_state: 'COMPLETED',
    external_ref: hash,
  });
});
