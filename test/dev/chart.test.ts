/** The chart refuses, among its plain settings, every one that is a secret. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { SETTING_LIST } from '../../platform/config/settings.ts';

interface Schema {
  readonly definitions: {
    readonly settings: {
      readonly not: { readonly anyOf: readonly { readonly required: readonly string[] }[] };
    };
  };
}

test('every secret of the service is refused where anyone can read it', () => {
  const file = join(ROOT, 'deploy/helm/fund-movement-orchestrator/values.schema.json');
  const { definitions } = JSON.parse(readFileSync(file, 'utf8')) as Schema;
  const refused = definitions.settings.not.anyOf.flatMap(({ required }) => required);
  const secrets = SETTING_LIST.filter(([, { secret }]) => secret).map(([name]) => name);
  // The drain has a value of its own, from which the chart computes its grace periods.
  expect([...refused].sort()).toEqual([...secrets, 'SVC_DRAIN_SECONDS'].sort());
});
