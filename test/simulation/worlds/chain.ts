/**
 * An EVM chain: an outside world with books of its own, read and sent to over JSON-RPC. It has two
 * endpoints. An endpoint can lag behind, stay on a branch that the chain has left, and not answer.
 * Blocks come at their own times. A few of the newest can be replaced by others, and what was in
 * them waits again. One account has one transaction for each nonce, whatever else was sent with it.
 */
import {
  keccak256,
  numberToHex,
  parseTransaction,
  parseUnits,
  recoverTransactionAddress,
  stringToHex,
  type Hex,
  type TransactionSerializedEIP1559,
} from 'viem';
import { inProcess, type Machine, type Timer } from '../machine/machine.ts';
import type { SimulatedRequest } from '../machine/seams.ts';
import type { NetworkFault } from './desk.ts';

/** What befalls the chain and its endpoints. */
export type ChainFault =
  | 'reorganised' // the newest blocks are replaced by others
  | 'transaction dropped' // no endpoint has it any longer
  | 'older version mined' // a miner has not heard of the replacement
  | 'fees rise' // for a while
  | 'endpoint lags' // it shows no new block for a while
  | 'endpoint silent'; // it does not answer for a while

export interface ChainOptions {
  readonly machine: Machine;
  readonly chain_id: number;
  /** The hosts of its endpoints. */
  readonly hosts: readonly string[];
  readonly token: string;
  readonly decimals: number;
  /** The accounts that have coin and tokens at the beginning. */
  readonly accounts: readonly string[];
  readonly network: (request: string) => NetworkFault | null;
  /** At one of its chances; null: it does not happen now. */
  readonly strikes: (fault: ChainFault) => Began | null;
}

/** To be called when what has happened changes what is mined or seen, with the calls of those. */
export type Began = (calls: readonly { readonly data: string }[]) => void;

/** A token transfer in a block of the chain as it is now. */
export interface MinedTransfer {
  readonly hash: string;
  readonly block: number;
  readonly from: string;
  readonly payee: string;
  /** In the token's base units. */
  readonly units: bigint;
}

interface Transaction {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly from: string;
  readonly nonce: number;
  readonly to: string;
  readonly value: bigint;
  readonly data: Hex;
  readonly gas: bigint;
  readonly maxFee: bigint;
  readonly tip: bigint;
}

interface Executed {
  readonly transaction: Transaction;
  readonly success: boolean;
  readonly gasUsed: bigint;
  readonly price: bigint;
  readonly transfer: { readonly payee: string; readonly units: bigint } | null;
}

interface Account {
  readonly nonce: number;
  readonly coin: bigint;
  readonly tokens: bigint;
}

interface Block {
  readonly number: number;
  readonly hash: Hex;
  readonly parent: Block | null;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly baseFee: bigint;
  readonly executed: readonly Executed[];
  /** The accounts after this block. */
  readonly accounts: ReadonlyMap<string, Account>;
}

interface Waiting {
  readonly transaction: Transaction;
  /** The endpoints that have it, and from when, in milliseconds since 1970. */
  readonly knownAt: Map<Endpoint, number>;
}

interface Endpoint {
  readonly host: string;
  head: Block;
  lagsUntil: number;
  silentUntil: number;
  lags: Began | null;
  isSilent: Began | null;
}

class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Milliseconds between two blocks. */
const BLOCK_MS = [3_000, 7_000] as const;
/** A block under this many others is final. */
const FINAL_DEPTH = 6;
const SAFE_DEPTH = 3;
/** The most blocks that are replaced at a time; fewer than make a block final. */
const DEEPEST = 4;
const MOST_IN_A_BLOCK = 6;
const GWEI = 1_000_000_000n;
const USUAL_FEE = 10n * GWEI;
const TIP = GWEI;
const TRANSFER_GAS = 52_000n;
const PLAIN_GAS = 21_000n;
/** Milliseconds until other endpoints have heard of a transaction. */
const SPREADS_WITHIN_MS = 4_000;
const LATE_WITHIN_MS = 40_000;
const SPELL_MS = [5_000, 40_000] as const;
const DEAR_MS = [20_000, 90_000] as const;
const BEGIN_WITH = { nonce: 0, coin: 10n ** 21n, tokens: 10n ** 15n } as const;
const TRANSFER_EVENT = keccak256(stringToHex('Transfer(address,address,uint256)'));
const EMPTY: Account = { nonce: 0, coin: 0n, tokens: 0n };
const TRUE_WORD = `0x${'1'.padStart(64, '0')}`;

export class Chain {
  readonly #options: ChainOptions;
  readonly #endpoints: readonly Endpoint[];
  /** The chain as it is, by block number. */
  #blocks: Block[];
  /** By account and nonce; the version that pays the most. */
  readonly #pool = new Map<string, Waiting>();
  /** Every version that an endpoint has taken, by account and nonce. */
  readonly #versions = new Map<string, Transaction[]>();
  /** By its bytes; who signed them takes long to find. */
  readonly #decoded = new Map<Hex, Transaction>();
  /** The blocks that have had the transaction, on any branch. */
  readonly #places = new Map<string, Block[]>();
  /** The first token transfer with each nonce, and when an endpoint took it, in milliseconds. */
  readonly sends: (Pick<MinedTransfer, 'hash' | 'payee' | 'units'> & { readonly at: number })[] =
    [];
  #fee = USUAL_FEE;
  #feesRiseUntil = 0;
  #risen: Began | null = null;
  #salt = 0;

  constructor(options: ChainOptions) {
    this.#options = options;
    const genesis: Block = {
      number: 0,
      hash: keccak256(stringToHex('genesis')),
      parent: null,
      timestamp: Math.floor(options.machine.begin / 1_000) - 60,
      baseFee: USUAL_FEE,
      executed: [],
      accounts: new Map(options.accounts.map((each) => [each.toLowerCase(), BEGIN_WITH])),
    };
    this.#blocks = [genesis];
    this.#endpoints = options.hosts.map((host) => ({
      host,
      head: genesis,
      lagsUntil: 0,
      silentUntil: 0,
      lags: null,
      isSilent: null,
    }));
    // A chain whose newest final block is its first would make every look an early one.
    for (let count = 0; count < FINAL_DEPTH; count += 1) this.#append();
    this.#follow();
    this.#nextBlock();
  }

  /** Every token transfer of the chain as it is now. */
  get transfers(): readonly MinedTransfer[] {
    return this.#blocks.flatMap(({ number, executed }) =>
      executed.flatMap(({ transaction: { hash, from }, success, transfer }) =>
        success && transfer !== null ? [{ hash, block: number, from, ...transfer }] : [],
      ),
    );
  }

  /**
   * What is known of the transfer of this amount to this payee: the hash of the transaction in a
   * final block; null: it is nowhere.
   */
  transferOf(payee: string, amount: string): string | 'not final' | null {
    const { decimals } = this.#options;
    const units = parseUnits(amount, decimals);
    const isIt = (data: string): boolean => {
      const found = transferOf(data);
      return found !== null && found.payee === payee && found.units === units;
    };
    for (const { number, executed } of this.#blocks)
      for (const { transaction, success } of executed)
        if (success && isIt(transaction.data))
          return number <= this.#head.number - FINAL_DEPTH ? transaction.hash : 'not final';
    const waits = [...this.#pool.values()].some(({ transaction }) => isIt(transaction.data));
    return waits ? 'not final' : null;
  }

  /** Hashes of transactions that have moved coin, or called anything but the token. */
  get strangers(): readonly string[] {
    return this.#blocks.flatMap(({ executed }) =>
      executed.flatMap(({ transaction: { hash, from, to, value, data }, transfer }) => {
        const isNothing = to === from && value === 0n && data === '0x';
        return isNothing || (value === 0n && transfer !== null) ? [] : [hash];
      }),
    );
  }

  /** What waits to be mined, as account, nonce, and why it waits. */
  get waiting(): readonly string[] {
    return [...this.#pool.values()].map(({ transaction: { from, nonce } }) => {
      const next = this.#accountAt(this.#head, from).nonce;
      const why = nonce === next ? 'is next' : `waits for nonce ${String(next)}`;
      return `nonce ${String(nonce)} of ${from} ${why}`;
    });
  }

  get #head(): Block {
    const head = this.#blocks.at(-1);
    if (head === undefined) throw new Error('a chain without blocks');
    return head;
  }

  /** Answers a request to one of its hosts, over the network. */
  async answer({ host, body }: SimulatedRequest): Promise<Response> {
    const endpoint = this.#endpoints.find((each) => each.host === host);
    if (endpoint === undefined) throw new TypeError('fetch failed');
    const { machine, network } = this.#options;
    const { id, method, params } = JSON.parse(body) as {
      readonly id: number;
      readonly method: string;
      readonly params?: readonly unknown[];
    };
    const label = `${host} ${method}`;
    const reply = (): Promise<Response> => this.#reply(endpoint, id, method, params ?? []);
    // Each connection asks every endpoint which chain it is, more often than anything else.
    if (method === 'eth_chainId' && endpoint.silentUntil <= machine.now) return reply();
    const isSend = method === 'eth_sendRawTransaction';
    const outcome = await machine.step(label, async () => {
      if (endpoint.silentUntil > machine.now) {
        endpoint.isSilent?.([]);
        return 'silent';
      }
      const found = network(label);
      if (found === 'late' && isSend) this.#arriveLater(label, reply);
      // A read changes nothing: when it arrives makes no difference.
      return found ?? (isSend ? null : reply());
    });
    if (outcome instanceof Response) return outcome;
    if (outcome === 'silent') {
      if (machine.dice.chance(0.7)) throw new TypeError('fetch failed');
      return never();
    }
    if (outcome === 'broken') return brokenAnswer(id, machine.dice.chance(0.7));
    if (outcome !== null && outcome !== 'lost answer') return never();
    const answer = await this.#arrive(label, reply);
    if (outcome === 'lost answer') return never();
    return machine.step(`answer: ${label}`, () => Promise.resolve(answer));
  }

  /** The request arrives at its own time, whatever becomes of its caller. */
  #arrive(label: string, reply: () => Promise<Response>): Promise<Response> {
    const { machine } = this.#options;
    return inProcess.exit(
      () =>
        new Promise((resolve) =>
          machine.post({
            process: null,
            label: `arrives: ${label}`,
            go: async () => resolve(await reply()),
          }),
        ),
    );
  }

  #arriveLater(label: string, reply: () => Promise<Response>): void {
    const { machine } = this.#options;
    this.#timer(machine.dice.between(1, LATE_WITHIN_MS), async () => {
      machine.log(`arrives late: ${label}`);
      await reply();
    });
  }

  #timer(ms: number, go: Timer['go']): void {
    const { machine } = this.#options;
    machine.timer({ process: null, at: machine.now + ms, label: 'chain', go });
  }

  async #reply(
    endpoint: Endpoint,
    id: number,
    method: string,
    params: readonly unknown[],
  ): Promise<Response> {
    try {
      const result = await this.#call(endpoint, method, params);
      return json({ jsonrpc: '2.0', id, result });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message } = error;
      this.#options.machine.log(`  refuses: ${message}`);
      return json({ jsonrpc: '2.0', id, error: { code, message } });
    }
  }

  async #call(endpoint: Endpoint, method: string, params: readonly unknown[]): Promise<unknown> {
    const [first, second] = params;
    if (endpoint.head !== this.#head && method !== 'eth_chainId') endpoint.lags?.([]);
    switch (method) {
      case 'eth_chainId':
        return numberToHex(this.#options.chain_id);
      case 'eth_blockNumber':
        return numberToHex(endpoint.head.number);
      case 'eth_gasPrice':
        return numberToHex(endpoint.head.baseFee + TIP);
      case 'eth_maxPriorityFeePerGas':
        return numberToHex(TIP);
      case 'eth_getBlockByNumber': {
        const block = this.#blockAt(endpoint, first);
        return block === null ? null : this.#blockJson(block, second === true);
      }
      case 'eth_getTransactionCount': {
        const { nonce } = this.#accountAt(this.#stateAt(endpoint, second), String(first));
        if (second !== 'pending') return numberToHex(nonce);
        let next = nonce;
        while (this.#isKnown(endpoint, this.#pool.get(slotOf(String(first), next)))) next += 1;
        return numberToHex(next);
      }
      case 'eth_getBalance':
        return numberToHex(this.#accountAt(this.#stateAt(endpoint, second), String(first)).coin);
      case 'eth_getCode':
        return sameAddress(String(first), this.#options.token) ? '0x6001' : '0x';
      case 'eth_call':
        return this.#view(this.#stateAt(endpoint, second), first as CallRequest);
      case 'eth_estimateGas':
        this.#view(endpoint.head, first as CallRequest);
        return numberToHex(isPlain((first as CallRequest).data) ? PLAIN_GAS : TRANSFER_GAS);
      case 'eth_sendRawTransaction':
        return this.#take(endpoint, first as Hex);
      case 'eth_getTransactionByHash':
        return this.#transactionJson(endpoint, String(first));
      case 'eth_getTransactionReceipt':
        return this.#receiptJson(endpoint, String(first));
      case 'eth_getLogs':
        return this.#logsJson(endpoint, first as LogFilter);
      default:
        throw new RpcError(-32601, `the method ${method} does not exist`);
    }
  }

  /** The block of this number on the endpoint's branch. */
  #onBranch({ head }: Endpoint, number: number): Block | null {
    let block: Block | null = head;
    while (block !== null && block.number > number) {
      if (this.#blocks[block.number] === block) return this.#blocks[number] ?? null;
      block = block.parent;
    }
    return block?.number === number ? block : null;
  }

  #blockAt(endpoint: Endpoint, tag: unknown): Block | null {
    const { number } = endpoint.head;
    switch (tag) {
      case undefined:
      case 'latest':
      case 'pending':
        return endpoint.head;
      case 'safe':
        return this.#onBranch(endpoint, Math.max(0, number - SAFE_DEPTH));
      case 'finalized':
        return this.#onBranch(endpoint, Math.max(0, number - FINAL_DEPTH));
      case 'earliest':
        return this.#onBranch(endpoint, 0);
      default:
        return this.#onBranch(endpoint, Number(tag));
    }
  }

  #stateAt(endpoint: Endpoint, tag: unknown): Block {
    const block = this.#blockAt(endpoint, tag);
    if (block === null) throw new RpcError(-32000, 'header not found');
    return block;
  }

  #accountAt({ accounts }: Block, address: string): Account {
    return accounts.get(address.toLowerCase()) ?? EMPTY;
  }

  #isKnown(endpoint: Endpoint, waiting: Waiting | undefined): waiting is Waiting {
    const at = waiting?.knownAt.get(endpoint);
    return at !== undefined && at <= this.#options.machine.now;
  }

  #view(block: Block, { from = '', to, data, input }: CallRequest): string {
    const code = data ?? input ?? '0x';
    if (to === undefined || !sameAddress(to, this.#options.token)) return '0x';
    const word = (index: number): string => code.slice(10 + 64 * index, 74 + 64 * index);
    switch (code.slice(0, 10)) {
      case '0x313ce567':
        return wordOf(BigInt(this.#options.decimals));
      case '0x70a08231':
        return wordOf(this.#accountAt(block, addressOf(word(0))).tokens);
      case '0xa9059cbb':
        if (this.#accountAt(block, from).tokens < BigInt(`0x${word(1)}`))
          throw new RpcError(3, 'execution reverted: the balance is too small');
        return TRUE_WORD;
      default:
        throw new RpcError(3, 'execution reverted');
    }
  }

  /** Takes a transaction as a client of the network does: by the state and the pool that it has. */
  async #take(endpoint: Endpoint, raw: Hex): Promise<string> {
    const { machine, chain_id } = this.#options;
    const transaction = this.#decoded.get(raw) ?? (await decoded(raw, chain_id));
    this.#decoded.set(raw, transaction);
    const { hash, from, nonce, gas, maxFee, tip, value } = transaction;
    const slot = slotOf(from, nonce);
    const account = this.#accountAt(endpoint.head, from);
    const known = this.#pool.get(slot);
    if (this.#isKnown(endpoint, known) && known.transaction.hash === hash)
      throw new RpcError(-32000, 'already known');
    if (nonce < account.nonce)
      throw new RpcError(-32000, `nonce too low: next nonce ${String(account.nonce)}`);
    if (gas < (isPlain(transaction.data) ? PLAIN_GAS : TRANSFER_GAS - 10_000n))
      throw new RpcError(-32000, 'intrinsic gas too low');
    if (account.coin < value + gas * maxFee)
      throw new RpcError(-32000, 'insufficient funds for gas * price + value');
    if (tip < 1n) throw new RpcError(-32000, 'transaction underpriced');
    if (known !== undefined && known.transaction.hash !== hash) {
      const before = known.transaction;
      const isMore = (one: bigint, other: bigint): boolean => one * 10n >= other * 11n;
      if (!isMore(maxFee, before.maxFee) || !isMore(tip, before.tip))
        throw new RpcError(-32000, 'replacement transaction underpriced');
    }
    machine.log(`${endpoint.host} takes ${named(transaction)}`);
    const versions = this.#versions.get(slot) ?? [];
    const transfer = transferOf(transaction.data);
    if (transfer !== null && !versions.some(({ data }) => data !== '0x'))
      this.sends.push({ hash, ...transfer, at: machine.now });
    if (!versions.some((each) => each.hash === hash)) versions.push(transaction);
    this.#versions.set(slot, versions);
    const isSame = known?.transaction.hash === hash;
    const knownAt = isSame ? known.knownAt : new Map<Endpoint, number>();
    for (const each of this.#endpoints) {
      const delay = each === endpoint ? 0 : machine.dice.between(0, SPREADS_WITHIN_MS);
      knownAt.set(each, Math.min(knownAt.get(each) ?? Infinity, machine.now + delay));
    }
    // What the chain has passed already is not taken by the others.
    if (nonce >= this.#accountAt(this.#head, from).nonce)
      this.#pool.set(slot, { transaction, knownAt });
    return hash;
  }

  #nextBlock(): void {
    const { machine, strikes } = this.#options;
    this.#timer(machine.dice.between(...BLOCK_MS), () => {
      this.#weather();
      const began = strikes('reorganised');
      if (began === null) this.#append();
      else this.#reorganise(machine.dice.between(1, DEEPEST), began);
      this.#follow();
      this.#nextBlock();
    });
  }

  #weather(): void {
    const { machine, strikes } = this.#options;
    const { now, dice } = machine;
    const risen = strikes('fees rise');
    if (risen !== null) {
      this.#feesRiseUntil = now + dice.between(...DEAR_MS);
      this.#risen = risen;
    }
    // Real fees rise by an eighth for each block; here they jump, so that more is outbid.
    const usual = now < this.#feesRiseUntil ? USUAL_FEE * 6n : USUAL_FEE;
    this.#fee = (usual * BigInt(dice.between(80, 120))) / 100n;
    for (const endpoint of this.#endpoints) {
      const lags = strikes('endpoint lags');
      if (lags !== null) {
        endpoint.lags = lags;
        endpoint.lagsUntil = now + dice.between(...SPELL_MS);
        machine.log(`${endpoint.host} lags`);
      }
      const isSilent = strikes('endpoint silent');
      if (isSilent !== null) {
        endpoint.isSilent = isSilent;
        endpoint.silentUntil = now + dice.between(...SPELL_MS);
        machine.log(`${endpoint.host} is silent`);
      }
    }
    for (const [slot, { transaction }] of this.#pool) {
      const dropped = strikes('transaction dropped');
      if (dropped === null) continue;
      dropped([transaction]);
      this.#pool.delete(slot);
      machine.log(`dropped: ${named(transaction)}`);
    }
  }

  #follow(): void {
    const { now } = this.#options.machine;
    for (const endpoint of this.#endpoints)
      if (endpoint.lagsUntil <= now) endpoint.head = this.#head;
  }

  /** The newest blocks are replaced by others, one more of them, so that the branch is longer. */
  #reorganise(depth: number, began: Began): void {
    const { machine } = this.#options;
    const gone = this.#blocks.splice(this.#blocks.length - depth);
    machine.log(`reorganised: ${String(depth)} blocks are gone`);
    const orphans = gone.flatMap(({ executed }) => executed).map((each) => each.transaction);
    if (orphans.length > 0) began(orphans);
    for (const orphan of orphans) {
      const slot = slotOf(orphan.from, orphan.nonce);
      // A transaction whose block is gone does not wait again everywhere, and not at once.
      if (machine.dice.chance(0.2) || this.#pool.has(slot)) continue;
      const knownAt = new Map(
        this.#endpoints.map((each) => [each, machine.now + machine.dice.between(0, 2_000)]),
      );
      this.#pool.set(slot, { transaction: orphan, knownAt });
    }
    for (let count = 0; count <= depth; count += 1) this.#append(0.5);
  }

  /** The next block. `leaves`: how often it leaves out what it could have. */
  #append(leaves = 0.15): void {
    const { machine } = this.#options;
    const parent = this.#head;
    const accounts = new Map(parent.accounts);
    const executed: Executed[] = [];
    const senders = shuffled(
      [...new Set([...this.#pool.values()].map(({ transaction }) => transaction.from))],
      machine,
    );
    for (const from of senders) {
      while (executed.length < MOST_IN_A_BLOCK && !machine.dice.chance(leaves)) {
        const { nonce } = accounts.get(from) ?? EMPTY;
        const next = this.#pick(slotOf(from, nonce));
        if (next === null) break;
        if (next.maxFee < this.#fee) {
          if (this.#feesRiseUntil > machine.now) this.#risen?.([next]);
          break;
        }
        executed.push(this.#execute(accounts, next));
      }
    }
    this.#salt += 1;
    const block: Block = {
      number: parent.number + 1,
      hash: keccak256(stringToHex(`${parent.hash} ${String(this.#salt)}`)),
      parent,
      timestamp: Math.max(parent.timestamp + 1, Math.floor(machine.now / 1_000)),
      baseFee: this.#fee,
      executed,
      accounts,
    };
    this.#blocks.push(block);
    for (const { transaction, success } of executed) {
      const { hash, from, nonce } = transaction;
      this.#pool.delete(slotOf(from, nonce));
      this.#places.set(hash, [...(this.#places.get(hash) ?? []), block]);
      const how = success ? 'mined' : 'mined and reverted';
      machine.log(`${how} in ${String(block.number)}: ${named(transaction)}`);
    }
  }

  /** The version of a nonce that the miner has. */
  #pick(slot: string): Transaction | null {
    const { machine, strikes } = this.#options;
    const versions = this.#versions.get(slot) ?? [];
    const waiting = this.#pool.get(slot)?.transaction ?? null;
    const older = versions.length > 1 ? strikes('older version mined') : null;
    if (older === null) return waiting;
    const picked = machine.dice.pick(versions);
    if (picked !== waiting) older([picked]);
    return picked;
  }

  #execute(accounts: Map<string, Account>, transaction: Transaction): Executed {
    const { from, to, data, gas, maxFee, tip, value } = transaction;
    const price = maxFee < this.#fee + tip ? maxFee : this.#fee + tip;
    const transfer = sameAddress(to, this.#options.token) ? transferOf(data) : null;
    const gasUsed = transfer === null ? PLAIN_GAS : TRANSFER_GAS;
    const of = (address: string): Account => accounts.get(address) ?? EMPTY;
    const sender = of(from);
    accounts.set(from, {
      ...sender,
      nonce: sender.nonce + 1,
      coin: sender.coin - gasUsed * price,
    });
    const success =
      gas >= gasUsed && (transfer === null ? to === from : sender.tokens >= transfer.units);
    if (success && transfer !== null) {
      accounts.set(from, { ...of(from), tokens: of(from).tokens - transfer.units });
      const payee = of(transfer.payee);
      accounts.set(transfer.payee, { ...payee, tokens: payee.tokens + transfer.units });
    }
    if (success && value > 0n) {
      accounts.set(from, { ...of(from), coin: of(from).coin - value });
      accounts.set(to, { ...of(to), coin: of(to).coin + value });
    }
    return { transaction, success, gasUsed, price, transfer };
  }

  /** The block of the transaction on the endpoint's branch. */
  #placeOf(endpoint: Endpoint, hash: string): { block: Block; index: number } | null {
    const block = this.#places
      .get(hash.toLowerCase())
      ?.find((each) => this.#onBranch(endpoint, each.number) === each);
    if (block === undefined) return null;
    const index = block.executed.findIndex(({ transaction }) => transaction.hash === hash);
    return { block, index };
  }

  #transactionJson(endpoint: Endpoint, hash: string): unknown {
    const place = this.#placeOf(endpoint, hash);
    if (place !== null) {
      const { block, index } = place;
      const executed = block.executed[index];
      return executed === undefined ? null : transactionJson(executed.transaction, place);
    }
    const waiting = [...this.#pool.values()].find((each) => each.transaction.hash === hash);
    return this.#isKnown(endpoint, waiting) ? transactionJson(waiting.transaction, null) : null;
  }

  #blockJson(block: Block, whole: boolean): unknown {
    const { number, hash, parent, timestamp, baseFee, executed } = block;
    return {
      number: numberToHex(number),
      hash,
      parentHash: parent?.hash ?? wordOf(0n),
      timestamp: numberToHex(timestamp),
      baseFeePerGas: numberToHex(baseFee),
      gasLimit: numberToHex(30_000_000),
      gasUsed: numberToHex(executed.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)),
      size: '0x400',
      nonce: '0x0000000000000000',
      difficulty: '0x0',
      totalDifficulty: '0x0',
      extraData: '0x',
      logsBloom: null,
      miner: `0x${'00'.repeat(20)}`,
      uncles: [],
      transactions: executed.map(({ transaction }, index) =>
        whole ? transactionJson(transaction, { block, index }) : transaction.hash,
      ),
    };
  }

  #receiptJson(endpoint: Endpoint, hash: string): unknown {
    const place = this.#placeOf(endpoint, hash);
    const executed = place?.block.executed[place.index];
    if (place === null || executed === undefined) return null;
    const { block, index } = place;
    const { transaction, success, gasUsed, price } = executed;
    return {
      transactionHash: hash,
      transactionIndex: numberToHex(index),
      blockHash: block.hash,
      blockNumber: numberToHex(block.number),
      from: transaction.from,
      to: transaction.to,
      contractAddress: null,
      cumulativeGasUsed: numberToHex(gasUsed),
      gasUsed: numberToHex(gasUsed),
      effectiveGasPrice: numberToHex(price),
      logs: this.#logsOf(block, index),
      logsBloom: '0x',
      status: success ? '0x1' : '0x0',
      type: '0x2',
    };
  }

  #logsOf(block: Block, index: number): readonly LogJson[] {
    const executed = block.executed[index];
    if (executed?.transfer == null || !executed.success) return [];
    const { transaction, transfer } = executed;
    return [
      {
        address: this.#options.token.toLowerCase(),
        topics: [TRANSFER_EVENT, wordOf(BigInt(transaction.from)), wordOf(BigInt(transfer.payee))],
        data: wordOf(transfer.units),
        blockNumber: numberToHex(block.number),
        blockHash: block.hash,
        transactionHash: transaction.hash,
        transactionIndex: numberToHex(index),
        logIndex: numberToHex(index),
        removed: false,
      },
    ];
  }

  #logsJson(endpoint: Endpoint, filter: LogFilter): unknown {
    const from = this.#stateAt(endpoint, filter.fromBlock).number;
    const to = this.#stateAt(endpoint, filter.toBlock).number;
    const addresses = [filter.address ?? []].flat().map((each) => each.toLowerCase());
    const fits = ({ address, topics }: LogJson): boolean =>
      (addresses.length === 0 || addresses.includes(address)) &&
      (filter.topics ?? []).every(
        (topic, at) => topic === null || [topic].flat().includes(topics[at] ?? ''),
      );
    const found: LogJson[] = [];
    for (let number = from; number <= to; number += 1) {
      const block = this.#onBranch(endpoint, number);
      block?.executed.forEach((_, index) => {
        found.push(...this.#logsOf(block, index).filter(fits));
      });
    }
    return found;
  }
}

interface CallRequest {
  readonly from?: string;
  readonly to?: string;
  readonly data?: string;
  readonly input?: string;
}

interface LogFilter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly address?: string | readonly string[];
  readonly topics?: readonly (string | readonly string[] | null)[];
}

interface LogJson {
  readonly address: string;
  readonly topics: readonly string[];
  readonly [field: string]: unknown;
}

const slotOf = (from: string, nonce: number): string => `${from.toLowerCase()} ${String(nonce)}`;
const sameAddress = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();
const isPlain = (data: string | undefined): boolean => data === undefined || data === '0x';
const wordOf = (value: bigint): Hex => numberToHex(value, { size: 32 });
const addressOf = (word: string): string => `0x${word.slice(24)}`.toLowerCase();
const named = ({ from, nonce, hash }: Transaction): string =>
  `nonce ${String(nonce)} of ${from} (${hash.slice(0, 10)})`;

/** The payee and the amount of a call of `transfer(address,uint256)`; null: it is another call. */
export function transferOf(
  data: string,
): { readonly payee: string; readonly units: bigint } | null {
  if (!/^0xa9059cbb[0-9a-f]{128}$/i.test(data)) return null;
  return { payee: addressOf(data.slice(10, 74)), units: BigInt(`0x${data.slice(74)}`) };
}

async function decoded(raw: Hex, chainId: number): Promise<Transaction> {
  const serializedTransaction = raw as TransactionSerializedEIP1559;
  const parsed = parseTransaction(serializedTransaction);
  if (parsed.chainId !== chainId) throw new RpcError(-32000, 'invalid chain id for signer');
  const from = await recoverTransactionAddress({ serializedTransaction });
  return {
    raw,
    hash: keccak256(raw),
    from: from.toLowerCase(),
    nonce: parsed.nonce ?? 0,
    to: (parsed.to ?? '').toLowerCase(),
    value: parsed.value ?? 0n,
    data: parsed.data ?? '0x',
    gas: parsed.gas ?? 0n,
    maxFee: parsed.maxFeePerGas ?? 0n,
    tip: parsed.maxPriorityFeePerGas ?? 0n,
  };
}

function transactionJson(
  { hash, from, nonce, to, value, data, gas, maxFee, tip }: Transaction,
  place: { readonly block: Block; readonly index: number } | null,
): unknown {
  return {
    hash,
    from,
    nonce: numberToHex(nonce),
    to,
    value: numberToHex(value),
    input: data,
    gas: numberToHex(gas),
    gasPrice: numberToHex(maxFee),
    maxFeePerGas: numberToHex(maxFee),
    maxPriorityFeePerGas: numberToHex(tip),
    type: '0x2',
    accessList: [],
    blockHash: place?.block.hash ?? null,
    blockNumber: place === null ? null : numberToHex(place.block.number),
    transactionIndex: place === null ? null : numberToHex(place.index),
  };
}

function json(body: unknown): Response {
  const headers = { 'content-type': 'application/json' };
  return new Response(JSON.stringify(body), { headers });
}

function brokenAnswer(id: number, isDown: boolean): Response {
  if (isDown) return new Response('the endpoint is overloaded', { status: 503 });
  return json({ jsonrpc: '2.0', id, error: { code: -32603, message: 'internal error' } });
}

/** The caller hears nothing until it gives up by itself. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

function shuffled<T>(items: readonly T[], { dice }: Machine): T[] {
  const rest = [...items];
  return items.map(() => {
    const [chosen] = rest.splice(dice.between(0, rest.length - 1), 1);
    return chosen as T;
  });
}
