/** What is verified before it is stored, whoever signed it. */
import { keccak256, parseTransaction, serializeTransaction, type Hex } from 'viem';
import { CURVE_ORDER } from '../../signers/ecdsa.ts';
import { createLocalSigner } from '../../signers/local.ts';
import { verifiedTransaction, verifiedTypedData } from '../../signers/verify.ts';
import { ADDRESS, KEY, OTHER_ADDRESS, OTHER_KEY, TYPED, UNSIGNED } from './support.ts';

const signer = createLocalSigner({ signer_key: 'dev', chain_family: 'evm' }, KEY);
const request = { unsigned: UNSIGNED, nonce: 7, address: ADDRESS };
const { raw_tx } = await signer.signEvmTransaction(UNSIGNED, 7);
const parsed = parseTransaction(raw_tx as `0x02${string}`);
const { r, s, yParity, ...fields } = parsed as typeof parsed & { r: Hex; s: Hex; yParity: number };
const hex = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

describe('a signed transaction', () => {
  it('is taken in lower case with its own hash', async () => {
    const upper = `0x02${raw_tx.slice(4).toUpperCase()}`;
    expect(await verifiedTransaction(request, upper)).toEqual({
      raw_tx,
      tx_hash: keccak256(raw_tx as Hex),
    });
  });

  test.each<[string, Promise<string> | string]>([
    ['with another nonce', signed({}, 8)],
    ['of another chain', signed({ chain_id: 1 })],
    ['to another', signed({ to: OTHER_ADDRESS })],
    ['of another amount', signed({ value: '1' })],
    ['with other data', signed({ data: '0x' })],
    ['with more gas', signed({ gas: '21001' })],
    ['with a higher fee', signed({ max_fee_per_gas: '2000000001' })],
    ['with a higher tip', signed({ max_priority_fee_per_gas: '1000000001' })],
    [
      'with an access list',
      serializeTransaction(
        { ...fields, type: 'eip1559', accessList: [{ address: ADDRESS, storageKeys: [] }] },
        { r, s, yParity },
      ),
    ],
    [
      'of a high s',
      serializeTransaction(
        { ...fields, type: 'eip1559' },
        { r, s: hex(CURVE_ORDER - BigInt(s)), yParity: 1 - yParity },
      ),
    ],
    ['of the other recovery id', serializeTransaction(fields, { r, s, yParity: 1 - yParity })],
    ['with a byte behind it', `${raw_tx}00`],
    ['cut short', raw_tx.slice(0, -2)],
    ['not signed', serializeTransaction({ ...fields, type: 'eip1559' })],
    ['that is none', '0x'],
    ['that is no hex', 'raw'],
  ])('is refused when it is one %s', async (_what, answer) => {
    await expect(verifiedTransaction(request, await answer)).rejects.toMatchObject({
      code: 'SIGNER_ANSWER_INVALID',
    });
  });

  it('by another address is refused', async () => {
    const other = createLocalSigner({ signer_key: 'other', chain_family: 'evm' }, OTHER_KEY);
    const answer = await other.signEvmTransaction(UNSIGNED, 7);
    await expect(verifiedTransaction(request, answer.raw_tx)).rejects.toThrow('not by the address');
    for (const address of ['', OTHER_ADDRESS])
      await expect(verifiedTransaction({ ...request, address }, raw_tx)).rejects.toThrow(
        'not by the address',
      );
  });
});

async function signed(changes: Partial<typeof UNSIGNED>, nonce = 7): Promise<string> {
  return (await signer.signEvmTransaction({ ...UNSIGNED, ...changes }, nonce)).raw_tx;
}

describe('signed typed data', () => {
  it('is taken when it is by the address over this data, and in the low form', async () => {
    const { signature } = await signer.signEvmTypedData(TYPED);
    const of = { payload: TYPED, address: ADDRESS };
    expect(await verifiedTypedData(of, signature)).toEqual({ signature });
    const other = { ...TYPED, message: { amount: '6' } };
    const high = `0x${signature.slice(2, 66)}${hex(CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)).slice(2)}${signature.endsWith('1b') ? '1c' : '1b'}`;
    for (const [asking, answer] of [
      [{ ...of, payload: other }, signature],
      [{ ...of, address: OTHER_ADDRESS }, signature],
      [of, high],
      [of, `${signature}00`],
      [of, '0x'],
    ] as const)
      await expect(verifiedTypedData(asking, answer)).rejects.toMatchObject({
        code: 'SIGNER_ANSWER_INVALID',
      });
  });
});
