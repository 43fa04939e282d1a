/** What Redocly's recommended rules say of a document. */
import { join } from 'node:path';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { ROOT } from '../../dev/stack/ports.ts';

/** What is wrong with it, errors and warnings, one line each: rule, where, and in words. */
export async function faultsOf(document: unknown): Promise<readonly string[]> {
  const config = await loadConfig({ configPath: join(ROOT, 'redocly.yaml') });
  const found = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: join(ROOT, 'openapi.json'),
    config,
  });
  return found.map(
    ({ severity, ruleId, message, location: [first] }) =>
      `${severity} ${ruleId} ${first?.pointer ?? ''}: ${message}`,
  );
}
