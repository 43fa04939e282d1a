/** Who prefers containers gets the servers that everything here is tested with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { DYNAMIC_CONFIG_FILE, dynamicConfig } from '../../dev/stack/temporal.ts';

const lines = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  .split('\n')
  .map((line) => line.trim());

test('each setting has a reason, and says whether a shared cluster may have it', () => {
  expect(dynamicConfig()).toContain('history.workflowTaskRetryMaxInterval="5s"');
  const text = readFileSync(join(ROOT, DYNAMIC_CONFIG_FILE), 'utf8');
  const [, ...settings] = text.split('\n\n');
  expect(settings).toHaveLength(4);
  for (const setting of settings) expect(setting).toMatch(/^# .*\n(# .*\n)*# Shared: (yes|no|it)/);
});

test("the containers' Temporal has every setting of the embedded one, and no other", () => {
  const given = lines.filter((line) => line.startsWith('- --dynamic-config-value='));
  expect(given.map((line) => line.replace('- --dynamic-config-value=', '')).sort()).toEqual(
    [...dynamicConfig()].sort(),
  );
});
