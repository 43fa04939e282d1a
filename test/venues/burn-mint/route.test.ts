/** What the contracts of either side say before a burn: where one says otherwise, nothing is. */
import { encodeAbiParameters, toFunctionSelector, type Hex } from 'viem';
import { approveBurns, startLanes, type TestLanes } from '../../dev/bridge-stack.ts';
import { startAnswering } from '../answering.ts';
import { burnContext, call, executorsOf } from './lanes-desk.ts';
import { started } from '../../support/started.ts';

const lanes = started(() => startLanes());
beforeAll(async () => {
  await approveBurns(lanes.near);
});

const STRANGER: Hex = '0x00000000000000000000000000000000000000ee';
const word = (type: 'uint256' | 'address' | 'bool', value: bigint | Hex | boolean): Hex =>
  encodeAbiParameters([{ type }], [value]);

/** A function, what it says, and of which contract where others have it too. */
interface Said {
  readonly of: string;
  readonly says: Hex;
  readonly by?: (lanes: TestLanes) => string;
}

/** What becomes of a burn while a contract of one side says this, before and as it is prepared. */
async function refused(side: 'near' | 'far', { of, says, by }: Said, max_fee = '0') {
  const selector = toFunctionSelector(of);
  const address = by?.(lanes).toLowerCase();
  const endpoint = await startAnswering(lanes[side].rpcUrl, ({ to, data }) =>
    data.startsWith(selector) && (address === undefined || to === address)
      ? { result: says }
      : null,
  );
  try {
    const { burn } = executorsOf(lanes, { attested: [], anew: [] }, { [side]: endpoint.url });
    const planned = burnContext(lanes);
    const context = { ...planned, config: { ...planned.config, max_fee } };
    const answers = [await burn.preflight(context, call()), await burn.prepare(context, call())];
    const codes = answers.map((answer) => answer?.error_code ?? '');
    expect(codes[0]).toBe(codes[1]);
    return codes[0];
  } finally {
    await endpoint.close();
  }
}

describe('nothing is burnt', () => {
  test.each<[string, 'near' | 'far', Said, string]>([
    ...(['near', 'far'] as const).flatMap((side): [string, 'near' | 'far', Said, string][] => [
      [
        `whose transmitter is another domain's (${side})`,
        side,
        { of: 'localDomain()', says: word('uint256', 99n) },
        'BRIDGE_ROUTE_MISSING',
      ],
      [
        `whose messenger has another transmitter (${side})`,
        side,
        { of: 'localMessageTransmitter()', says: word('address', STRANGER) },
        'BRIDGE_ROUTE_MISSING',
      ],
      [
        `whose messenger believes another messenger (${side})`,
        side,
        { of: 'remoteTokenMessengers(uint32)', says: word('address', STRANGER) },
        'BRIDGE_ROUTE_MISSING',
      ],
    ]),
    [
      'for which another token is minted',
      'far',
      { of: 'getLocalToken(uint32,bytes32)', says: word('address', STRANGER) },
      'DESTINATION_TOKEN_MISSING',
    ],
    ...[2n, 18n].map((decimals): [string, 'far', Said, string] => [
      `that counts in ${String(decimals)} decimals there`,
      'far',
      { of: 'decimals()', says: word('uint256', decimals) },
      'DESTINATION_TOKEN_MISSING',
    ]),
    [
      'while the minter is paused',
      'far',
      {
        of: 'paused()',
        says: word('bool', true),
        by: ({ far }) => far.contracts.tokenMessenger,
      },
      'BRIDGE_PAUSED',
    ],
    [
      'whose token says no to a mint',
      'far',
      { of: 'mint(address,uint256)', says: word('bool', false) },
      'MINT_WOULD_FAIL',
    ],
  ])('%s', async (_what, side, said, code) => {
    expect(await refused(side, said)).toBe(code);
  });

  it('for a lower fee than the messenger asks for', async () => {
    const least = (units: bigint): Said => ({
      of: 'getMinFeeAmount(uint256)',
      says: word('uint256', units),
    });
    expect(await refused('near', least(500_001n), '0.5')).toBe('FEE_BELOW_MINIMUM');
    expect(await refused('near', least(500_000n), '0.5')).toBe('');
  });
});
