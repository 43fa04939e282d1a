/** The lane's executors on two real chains: what is not burnt, and what counts as signed. */
import { concat, encodeErrorResult, keccak256, parseAbi, slice, toHex, type Hex } from 'viem';
import { MESSAGE_TRANSMITTER } from '../../../dev/simulators/bridge/contracts/artifacts.ts';
import { ATTESTERS } from '../../../dev/simulators/bridge/lanes.ts';
import {
  ExecutorFault,
  type ExecutionContext,
  type ExecutionResult,
} from '../../../domain/executor.ts';
import { recordsOf } from '../../../domain/plan/legs.ts';
import type { Attested } from '../../../venues/burn-mint/attester.ts';
import {
  approveBurns,
  burn,
  mintCall,
  PAYEE,
  SIGNER,
  startLanes,
  STRANGER,
} from '../../dev/bridge-stack.ts';
import { startAnswering } from '../answering.ts';
import {
  attest,
  burnContext,
  burnt,
  call,
  executorsOf,
  filledIn,
  mintContext,
  nonceOf,
  signatures,
  type Mined,
  type AttesterState,
} from './lanes-desk.ts';
import { started } from '../../support/started.ts';

let says: AttesterState;
const lanes = started(() => startLanes());
beforeAll(async () => {
  await approveBurns(lanes.near);
});
beforeEach(() => {
  says = { attested: [], anew: [] };
});

const executors = () => executorsOf(lanes, says);
const looked = ({ context, journal }: Mined): Promise<ExecutionResult> =>
  executors().burn.observe(context, call(), journal);
const [ONE, TWO, THREE] = ATTESTERS.map(({ privateKey }) => privateKey) as [Hex, Hex, Hex];
const OTHER_KEY = keccak256(toHex('another key'));
const ORDER = BigInt('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');

/** The same signature with the other of the two values of s that are right. */
const otherHalf = (signature: Hex): Hex =>
  concat([
    slice(signature, 0, 32),
    toHex(ORDER - BigInt(slice(signature, 32, 64)), { size: 32 }),
    slice(signature, 64) === '0x1b' ? '0x1c' : '0x1b',
  ]);

describe('a burn is completed', () => {
  const UPPER = 'a signature of the upper half';
  const WRONG: readonly [string, (message: Hex) => Promise<readonly Hex[]>][] = [
    ['nothing', () => Promise.resolve([])],
    ['one attester of two', (message) => signatures(message, [ONE])],
    ['one more than required', (message) => signatures(message, [ONE, TWO, THREE])],
    ['one attester and somebody else', (message) => signatures(message, [ONE, OTHER_KEY])],
    ['the same attester twice', (message) => signatures(message, [ONE, ONE])],
    ['attesters in the wrong order', async (message) => (await signatures(message)).toReversed()],
    ['attesters of another message', () => signatures('0x00')],
    [
      UPPER,
      async (message) => {
        const [first = '0x', second = '0x'] = await signatures(message);
        return [first, otherHalf(second)];
      },
    ],
    [
      'no signature at all',
      () => Promise.resolve([toHex(0, { size: 65 }), toHex(1, { size: 65 })]),
    ],
  ];

  it('with nothing that its destination would not take as signed', async () => {
    const mined = await burnt(lanes, executors());
    const invented = filledIn(mined.message, nonceOf('invented'));
    for (const [what, sign] of WRONG) {
      const attestation = concat(['0x', ...(await sign(invented))]);
      says.attested = [{ message: invented, attestation }];
      const outcome = await looked(mined).catch((error: unknown) => error);
      expect([what, outcome]).toEqual([what, expect.objectContaining({ kind: 'protocol' })]);
      expect(outcome).toMatchObject({ code: 'ATTESTATION_UNSIGNED' });
      // The transmitter thinks the same of it; this one does not know halves.
      if (what === UPPER) continue;
      const refused = await lanes.far.refusal({
        to: lanes.far.contracts.messageTransmitter,
        abi: MESSAGE_TRANSMITTER.abi,
        functionName: 'receiveMessage',
        args: [invented, attestation],
      });
      expect([what, refused]).toEqual([what, expect.stringMatching(/attest|sign/i)]);
    }
    const right = await attest(mined.message, nonceOf('right'));
    says.attested = [...says.attested, right];
    expect(await looked(mined)).toMatchObject({
      next_state: 'COMPLETED',
      output: { message_nonce: nonceOf('right'), ...recorded(right) },
    });
  });

  const recorded = ({ message, attestation }: Attested) => ({
    attested_message: message,
    attestation,
  });
});

describe('venue entries that are changed while a burn is under way', () => {
  const changed = () =>
    executorsOf(lanes, says, { changed: { message_transmitter: lanes.far.contracts.burnToken } });
  const waits = {
    kind: 'not_yet',
    code: 'VENUE_ENTRY_CHANGED',
    message: expect.stringContaining('restore these entries'),
  };

  it('decide nothing: it waits until they are put back', async () => {
    const mined = await burnt(lanes, executors());
    const own = await attest(mined.message, nonceOf('under other entries'));
    says.attested = [own];
    for (const phase of ['observe', 'recover'] as const)
      await expect(
        changed().burn[phase](mined.context, call(), mined.journal),
      ).rejects.toMatchObject(waits);
    expect(await looked(mined)).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('let nothing be minted', async () => {
    const mined = await burnt(lanes, executors());
    says.attested = [await attest(mined.message, nonceOf('minted under other entries'))];
    const { external_ref = '', output = {} } = await looked(mined);
    const context = mintContext({ node_key: 'burn', external_ref, output });
    await expect(changed().mint.prepare(context, call())).rejects.toMatchObject(waits);
    expect(await executors().mint.prepare(context, call())).toMatchObject({
      next_state: 'SUBMITTING',
    });
  });
});

describe('a mint brings', () => {
  async function completed(own: Attested, mined: Mined) {
    says.attested = [own];
    const { external_ref = '', output = {} } = await looked(mined);
    return mintContext({ node_key: 'burn', external_ref, output });
  }
  const brought = ({ sign_request }: ExecutionResult): string =>
    String(sign_request?.payload['data']);

  it('a newer attestation where the destination takes it, and its own else', async () => {
    const mined = await burnt(lanes, executors());
    const nonce = nonceOf('newer');
    const own = await attest(mined.message, nonce);
    const context = await completed(own, mined);
    says.attested = [{ message: own.message, attestation: '0x' }];
    expect(brought(await executors().mint.prepare(context, call()))).toContain(
      own.attestation.slice(2),
    );
    const attestation = concat([...(await signatures(own.message, [TWO, THREE]))]);
    says.attested = [{ message: own.message, attestation }];
    expect(brought(await executors().mint.prepare(context, call()))).toContain(
      attestation.slice(2),
    );
    expect(says.anew).toEqual([]);
  });

  it('no message of another nonce, also where it is signed for the same burn', async () => {
    const mined = await burnt(lanes, executors());
    const own = await attest(mined.message, nonceOf('its own'));
    const context = await completed(own, mined);
    says.attested = [await attest(mined.message, nonceOf('another')), own];
    const { sign_request } = await executors().mint.prepare(context, call());
    const data = String(sign_request?.payload['data']);
    expect(data).toContain(own.message.slice(2));
    expect(data).toContain(own.attestation.slice(2));
  });

  it('what is signed as neither more nor less than was burnt', async () => {
    const mined = await burnt(lanes, executors());
    const context = await completed(await attest(mined.message, nonceOf('as much')), mined);
    const { sign_request: request } = await executors().mint.prepare(context, call());
    if (request === undefined || context.matched === undefined) throw new Error('nothing to sign');
    const { action_type, asset, config, matched } = context;
    const signs = (amount: string): Promise<string | null> =>
      executors().signing.check(
        {
          node: { node_key: 'mint', action_type, asset, config },
          matched,
          amount,
          executor: undefined,
          input_params: {},
          intent: { asset, amount },
        },
        { request, from: SIGNER.address, now_ms: 0, foreign: false },
        call(),
      );
    expect(await signs('2.5')).toBeNull();
    for (const amount of ['2.499999', '2.500001'])
      expect(await signs(amount)).toContain(
        `the node moves ${amount}, and the mint would move 2.5`,
      );
  });

  it('what its burn has recorded by the fields that a resolution asks for', async () => {
    const mined = await burnt(lanes, executors());
    const own = await attest(mined.message, nonceOf('by its fields'));
    const { matched } = await completed(own, mined);
    const fields = recordsOf('cctp_burn');
    const minted = (names: readonly string[]): Promise<ExecutionResult> => {
      const all = Object.entries(matched?.output ?? {});
      const output = Object.fromEntries(all.filter(([name]) => names.includes(name)));
      const external_ref = matched?.external_ref ?? '';
      return executors().mint.prepare(
        mintContext({ node_key: 'burn', external_ref, output }),
        call(),
      );
    };
    expect(brought(await minted(fields))).toContain(own.message.slice(2));
    for (const field of fields)
      expect(await minted(fields.filter((name) => name !== field))).toMatchObject({
        next_state: 'FAILED',
      });
  });

  it('nothing where the attesters have changed, and asks for another attestation', async () => {
    const mined = await burnt(lanes, executors());
    const nonce = nonceOf('changed');
    const own = await attest(mined.message, nonce);
    const context = await completed(own, mined);
    says.attested = [];
    const attestation = concat([...(await signatures(own.message, [ONE, OTHER_KEY]))]);
    const before = { ...context.matched?.output, attestation };
    const stale = mintContext({
      node_key: 'burn',
      output: before,
      external_ref: context.matched?.external_ref ?? '',
    });
    await expect(executors().mint.prepare(stale, call())).rejects.toMatchObject({
      kind: 'not_yet',
      code: 'ATTESTATION_UNSIGNED',
    });
    expect(says.anew).toEqual([nonce]);
    says.attested = [own];
    expect(brought(await executors().mint.prepare(stale, call()))).toContain(
      own.attestation.slice(2),
    );
  });
});

describe("somebody else's mint", () => {
  /** Our mint of a burn whose nonce is used by the message that a stranger brings. */
  async function brought(nonce: Hex, by: (own: Attested) => Promise<Attested>) {
    const mined = await burnt(lanes, executors());
    const own = await attest(mined.message, nonce);
    says.attested = [own];
    const { external_ref = '', output = {} } = await looked(mined);
    const { message, attestation } = await by(own);
    const receipt = await lanes.far.send(mintCall(lanes.far, message, attestation), STRANGER);
    expect(receipt.status).toBe('success');
    const context = mintContext({ node_key: 'burn', external_ref, output });
    const { prepared_action = {} } = await executors().mint.prepare(context, call());
    return {
      receipt,
      look: (
        completion_assurance: ExecutionContext['completion_assurance'],
        phase: 'observe' | 'recover' = 'observe',
        prior: ExecutionContext['prior'] = { prepared_action },
      ) =>
        executors().mint[phase]({ ...context, completion_assurance, prior }, call(), mined.journal),
    };
  }

  it('completes ours only once its block is as deep as required', async () => {
    const { receipt, look } = await brought(nonceOf('quicker'), (own) => Promise.resolve(own));
    expect(await look('destination_finalized')).toMatchObject({ next_state: 'OBSERVING' });
    await lanes.far.mine(100);
    expect(await look('destination_finalized')).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: receipt.transactionHash,
      assurance: 'protocol_finalized',
      output: { received_amount: '2.5' },
    });
  });

  it('is found in a recovery whatever earlier looks have searched', async () => {
    const { receipt, look } = await brought(nonceOf('requested again'), (own) =>
      Promise.resolve(own),
    );
    const searched = { from: '0', to: '999999' };
    const prior = { prepared_action: { minted_by: null, searched }, output: { searched } };
    await expect(look('provider_completed', 'observe', prior)).rejects.toMatchObject({
      code: 'MINT_UNSEEN',
    });
    expect(await look('provider_completed', 'recover', prior)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: receipt.transactionHash,
    });
  });

  it('of another burn under our nonce is none of ours', async () => {
    const nonce = nonceOf('one of two');
    const other = await burn(lanes.near, lanes.far);
    const { look } = await brought(nonce, () => attest(other.message, nonce));
    await lanes.far.mine(100);
    await expect(look('provider_completed')).rejects.toMatchObject({
      kind: 'protocol',
      code: 'MINT_NOT_SEEN',
    });
  });

  it.each([
    ['shows no event', { result: [] }],
    ['answers no search', { error: { code: -32000, message: 'logs are not served here' } }],
  ])('is looked for later where the endpoint %s, and nothing is signed', async (what, logs) => {
    const mined = await burnt(lanes, executors());
    const own = await attest(mined.message, nonceOf(what));
    says.attested = [own];
    const { external_ref = '', output = {} } = await looked(mined);
    const { far } = lanes;
    const receipt = await far.send(mintCall(far, own.message, own.attestation), STRANGER);
    const context = mintContext({ node_key: 'burn', external_ref, output });
    const { journal } = mined;
    const hiding = await startAnswering(
      far.rpcUrl,
      () => null,
      (method) => (method === 'eth_getLogs' ? logs : null),
    );
    try {
      const { mint } = executorsOf(lanes, says, { far: hiding.url });
      const prepared = await mint.prepare(context, call());
      expect(prepared.sign_request).toBeUndefined();
      const { prepared_action = {} } = prepared;
      expect(prepared_action).toMatchObject({ minted_by: null });
      const sent = await mint.submit({ context, prepared_action, journal }, call());
      expect(sent).toEqual({ next_state: 'SUBMITTED' });
      const looking = { ...context, prior: { prepared_action } };
      await expect(mint.observe(looking, call(), journal)).rejects.toThrow(ExecutorFault);
      expect(await executors().mint.observe(looking, call(), journal)).toMatchObject({
        next_state: 'COMPLETED',
        external_ref: receipt.transactionHash,
      });
    } finally {
      await hiding.close();
    }
  });

  it('that the chain has taken back is made by us', async () => {
    const mined = await burnt(lanes, executors());
    says.attested = [await attest(mined.message, nonceOf('reorganised away'))];
    const { external_ref = '', output = {} } = await looked(mined);
    const context = mintContext({ node_key: 'burn', external_ref, output });
    const { mint } = executors();
    const nothingSigned = { ...mined.journal, transactions: () => Promise.resolve([]) };
    for (const minted_by of [nonceOf('a transaction that is gone'), null]) {
      const prior = { prepared_action: { minted_by } };
      await expect(
        mint.observe({ ...context, prior }, call(), nothingSigned),
      ).rejects.toMatchObject({ kind: 'server_error', code: 'MINT_GONE' });
      expect(await mint.recover({ ...context, prior }, call(), nothingSigned)).toEqual({
        next_state: 'READY',
      });
    }
    const anew = await mint.prepare(context, call());
    expect(anew.sign_request).toBeDefined();
    expect(anew.prepared_action).not.toHaveProperty('minted_by');
  });

  it('is found over several looks of a phase, however long ago it was', async () => {
    const mined = await burnt(lanes, executors());
    const own = await attest(mined.message, nonceOf('long ago'));
    says.attested = [own];
    const { external_ref = '', output = {} } = await looked(mined);
    const { far } = lanes;
    const receipt = await far.send(mintCall(far, own.message, own.attestation), STRANGER);
    for (let thousands = 0; thousands < 4; thousands += 1) await far.mine(1_000);
    const context = mintContext({ node_key: 'burn', external_ref, output });
    const { mint } = executorsOf(lanes, says, { search: { milliseconds: 0 } });
    const prepared = await mint.prepare(context, call());
    expect(prepared).toMatchObject({ prepared_action: { minted_by: null } });
    expect(prepared.sign_request).toBeUndefined();
    const { prepared_action = {} } = prepared;
    const journal = mined.journal;
    const sent = await mint.submit({ context, prepared_action, journal }, call());
    expect(sent).toEqual({ next_state: 'SUBMITTED' });
    for (const phase of ['observe', 'recover'] as const) {
      let answer: ExecutionResult = sent;
      let looks = 0;
      for (; answer.next_state !== 'COMPLETED' && looks < 20; looks += 1) {
        const kept = answer.output === undefined ? {} : { output: answer.output };
        const prior = { prepared_action, ...kept };
        answer = await mint[phase]({ ...context, prior }, call(), journal);
        if (answer.next_state === 'COMPLETED') continue;
        expect(answer).toMatchObject({
          next_state: 'OBSERVING',
          error_code: 'MINT_SEARCH_UNFINISHED',
        });
      }
      expect(answer).toMatchObject({ external_ref: receipt.transactionHash });
      expect(looks).toBeGreaterThan(2);
    }
  }, 90_000);
});

describe('nothing is burnt', () => {
  const refusal = async (far?: string): Promise<string> => {
    const { burn } = executorsOf(lanes, says, far === undefined ? {} : { far });
    const answers = [
      await burn.preflight(burnContext(lanes), call()),
      await burn.prepare(burnContext(lanes), call()),
    ];
    const codes = answers.map((answer) => answer?.error_code ?? '');
    expect(codes[0]).toBe(codes[1]);
    return `${codes[0] ?? ''} ${answers[0]?.error_message ?? ''}`;
  };

  test.each(['near', 'far'] as const)('while the transmitter is paused (%s)', async (name) => {
    const side = lanes[name];
    const pause = (to: boolean) =>
      side.send(
        {
          to: side.contracts.messageTransmitter,
          abi: MESSAGE_TRANSMITTER.abi,
          functionName: 'setPaused',
          args: [to],
        },
        side.deployer,
      );
    await pause(true);
    expect(await refusal()).toContain('BRIDGE_PAUSED');
    await pause(false);
    expect((await refusal()).trim()).toBe('');
  });

  it('that whoever mints it in the plan may not bring', async () => {
    const caller = PAYEE;
    const planned = burnContext(lanes);
    const context = { ...planned, config: { ...planned.config, destination_caller: caller } };
    const by = (address: string): ExecutionContext => ({
      ...context,
      minter: { signer_key: 'm', address },
    });
    const { burn: burns } = executors();
    for (const ask of [burns.preflight, burns.prepare]) {
      expect(await ask(by(SIGNER.address), call())).toMatchObject({
        next_state: 'FAILED',
        error_code: 'SIGNER_CALLER_MISMATCH',
      });
      expect((await ask(by(caller), call()))?.error_code).toBeUndefined();
    }
  });

  it('that the token would not mint to its payee', async () => {
    const blocked = await startBlocking(lanes.far.rpcUrl);
    try {
      expect(await refusal(blocked.url)).toMatch(/^MINT_WOULD_FAIL .*: the account is blocked$/);
      expect(blocked.minters).toEqual([lanes.far.contracts.tokenMessenger.toLowerCase()]);
    } finally {
      await blocked.close();
    }
  });
});

/** The endpoint of a chain whose token refuses to mint; `minters` are the callers that tried. */
async function startBlocking(rpcUrl: string) {
  const minters = new Set<string>();
  const data = encodeErrorResult({
    abi: parseAbi(['error Error(string)']),
    args: ['the account is blocked'],
  });
  const { url, close } = await startAnswering(rpcUrl, ({ from, data: calldata }) => {
    if (!calldata.startsWith('0x40c10f19')) return null;
    minters.add(from);
    return { error: { code: 3, message: 'execution reverted', data } };
  });
  return {
    url,
    close,
    get minters() {
      return [...minters];
    },
  };
}
