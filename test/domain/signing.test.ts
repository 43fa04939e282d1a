/** For how long whoever holds a signature can use it. */
import type { SignRequest } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { usableSeconds } from '../../domain/signing.ts';

const authorization = (message: JsonObject): SignRequest => ({
  kind: 'evm_typed_data',
  payload: { primaryType: 'TransferWithAuthorization', message },
});

test('an authorization is over half an hour after its last second, and not before', () => {
  const until = (validBefore: string) => authorization({ validAfter: '0', validBefore });
  expect(usableSeconds(until('1000'), 400_000)).toBe(2_400);
  // Whole seconds, and none too few.
  expect(usableSeconds(until('1000'), 400_001)).toBe(2_400);
  expect(usableSeconds(until('1000'), 399_999)).toBe(2_401);
  // It has expired, and no final block shows yet whether it was used.
  expect(usableSeconds(until('0'), 400_000)).toBe(1_400);
});

test('what names no last second is not waited for by its time', () => {
  expect(usableSeconds(authorization({ validAfter: '0' }), 400_000)).toBe(0);
  const { payload } = authorization({ validBefore: '1000' });
  expect(usableSeconds({ kind: 'evm_transaction', payload }, 400_000)).toBe(0);
});
