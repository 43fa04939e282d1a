/** Each exchange has a file in test/faults: CI draws files, and one of all would take too long. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../dev/stack/ports.ts';
import { DIALECTS } from '../../venues/cex/dialects/index.ts';

test('every exchange runs twenty movements through its faults', () => {
  const missing = [...DIALECTS.keys()].filter(
    (exchange) => !existsSync(join(ROOT, `test/faults/exchange-${exchange}.test.ts`)),
  );
  expect(missing).toEqual([]);
});
