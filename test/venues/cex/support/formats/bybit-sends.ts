/** What moves money at Bybit: withdrawals, their cancel, and transfers (docs/bybit-facts.md). */
import { add, compare, isPositive } from '../../../../../domain/money.ts';
import type { Books, TransferRequest, WithdrawalRequest } from '../books.ts';
import type { RouteContext } from '../format.ts';
import { Refusal } from '../refusal.ts';
import {
  amountOf,
  choice,
  memberOf,
  needed,
  needMemberTransfer,
  needPermission,
  ownRefusal,
  poolOf,
} from './bybit-parameters.ts';
import { transferStatus, withdrawable, withdrawalStatus } from './bybit-views.ts';

export const TRANSFER_DECIMALS = 8;
/** How far a withdrawal's own time stamp may be off: some bound, since no source has one (4). */
const TIMESTAMP_MS = 60_000;
/** States in which a cancel works here: which ones do is unproven (18). */
const CANCELLABLE = ['SecurityCheck', 'Pending'];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A repeated `requestId` pays again: what Bybit does is unproven, and this is the worst (18). */
export function withdraw(context: RouteContext): object {
  needPermission(context, 'Withdraw');
  const { books, account, parameters } = context;
  checkTimestamp(context);
  // To a uid (2) no withdrawal goes here.
  if (choice(context, 'forceChain', ['0', '1', '2']) === '2')
    throw ownRefusal(131077, 'receive user not exist');
  const tag = parameters.get('tag') ?? '';
  const request = {
    client_id: requestId(context),
    asset: needed(context, 'coin'),
    network: needed(context, 'chain'),
    address: needed(context, 'address'),
    tag: tag === '' ? null : tag,
    amount: amountOf(context),
  };
  checkAccountType(context);
  checkBook(books, request);
  checkLocked(context, request);
  const isGross = choice(context, 'feeType', ['0', '1']) === '1';
  return { id: books.withdraw(account, request, isGross ? 'included' : 'on_top').id };
}

function checkTimestamp(context: RouteContext): void {
  const off = Math.abs(context.books.now() - Number(needed(context, 'timestamp')));
  if (off > TIMESTAMP_MS) throw ownRefusal(131002, 'params err: timestamp out of invalid window');
}

function requestId({ parameters }: RouteContext): string | null {
  const id = parameters.get('requestId');
  if (id !== null && !/^[A-Za-z0-9]{1,32}$/.test(id))
    throw new Refusal('parameter_invalid', 'requestId');
  return id;
}

/** The word is required, and a withdrawal of other wallets alone finds nothing here (3). */
function checkAccountType(context: RouteContext): void {
  const word = needed(context, 'accountType');
  if (!['FUND', 'UTA', 'EARN', 'FUND,UTA,EARN'].includes(word))
    throw new Refusal('parameter_invalid', 'accountType');
  if (!word.startsWith('FUND')) throw new Refusal('insufficient_funds');
}

/** Bybit compares address, chain and tag with its book as they are, letter case included (7). */
function checkBook(books: Books, { asset, network, address, tag }: WithdrawalRequest): void {
  // A chain in lower case is one that the book does not have, and another name is no chain at all.
  books.termsOf(asset, network.toUpperCase());
  const isListed = books.book.some(
    (entry) =>
      entry.address === address &&
      entry.tag === tag &&
      (entry.asset ?? asset) === asset &&
      (entry.network ?? network) === network,
  );
  if (books.enforces_book && !isListed) throw new Refusal('address_not_listed');
}

/** Of the balance, deposits below their safe confirmations may not leave (3). */
function checkLocked({ books, account }: RouteContext, { asset, amount }: WithdrawalRequest): void {
  const isHeld = compare(books.get(account, 'SPOT', asset), amount) >= 0;
  if (isHeld && compare(withdrawable(books, { account, pool: 'SPOT' }, asset), amount) < 0)
    throw ownRefusal(
      131085,
      'Withdrawal amount is greater than your availale balance (the deplayed withdrawal is triggered)',
    );
}

export function cancel(context: RouteContext): object {
  needPermission(context, 'Withdraw');
  const { books, account } = context;
  const id = needed(context, 'id');
  const found = books.withdrawals.find((each) => each.id === id && each.account === account);
  if (found === undefined) throw new Refusal('not_found');
  if (!CANCELLABLE.includes(withdrawalStatus(found)))
    throw ownRefusal(131099, 'Hot wallet status can cancel the withdraw');
  found.status = 'failed';
  found.exchange_status = 'CancelByUser';
  const { asset, net_amount, fee } = found;
  const left = books.get(account, 'SPOT', asset);
  books.set(account, 'SPOT', asset, add(left, add(net_amount, fee)));
  return { status: 1 };
}

export function interTransfer(context: RouteContext): object {
  needPermission(context, 'AccountTransfer');
  const { account } = context;
  const [from, to] = [poolOf(context, 'fromAccountType'), poolOf(context, 'toAccountType')];
  if (from === to) throw ownRefusal(131211, "fromAccountType can't be the same as toAccountType");
  return moved(context, { source: { account, pool: from }, destination: { account, pool: to } });
}

export function universalTransfer(context: RouteContext): object {
  needMemberTransfer(context);
  const { account } = context;
  const [from, to] = [memberOf(context, 'fromMemberId'), memberOf(context, 'toMemberId')];
  // Not between the same uid; and a sub-account's key sends its own to the master only (3).
  if (from === to) throw new Refusal('parameter_invalid', 'toMemberId');
  if (account !== null && (from !== account || to !== null)) throw new Refusal('unknown_account');
  return moved(context, {
    source: { account: from, pool: poolOf(context, 'fromAccountType') },
    destination: { account: to, pool: poolOf(context, 'toAccountType') },
  });
}

function moved(
  context: RouteContext,
  ends: Pick<TransferRequest, 'source' | 'destination'>,
): object {
  const { books } = context;
  const client_id = needed(context, 'transferId');
  if (!UUID.test(client_id)) throw new Refusal('parameter_invalid', 'transferId');
  if (books.transfers.some((each) => each.client_id === client_id))
    throw ownRefusal(131214, 'TransferId exist');
  const [asset, amount] = [needed(context, 'coin'), amountOf(context)];
  if (!isPositive(amount)) throw ownRefusal(131215, 'Amount error');
  const request = { ...ends, client_id, asset, amount };
  const made = books.transfer(request, { decimals: TRANSFER_DECIMALS });
  return { transferId: client_id, status: transferStatus(made) };
}
