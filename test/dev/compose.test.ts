/** Who prefers containers gets the servers that everything here is tested with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { DYNAMIC_CONFIG } from '../../dev/stack/temporal.ts';

const lines = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  .split('\n')
  .map((line) => line.trim());

test("the containers' Temporal has every setting of the embedded one, and no other", () => {
  const given = lines.filter((line) => line.startsWith('- --dynamic-config-value='));
  expect(given.map((line) => line.replace('- --dynamic-config-value=', '')).sort()).toEqual(
    [...DYNAMIC_CONFIG].sort(),
  );
});
