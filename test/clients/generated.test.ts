/** What the typed client knows of the API is what the API says. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '../../clients/http/generated/errors.ts';
import { OPERATIONS, type Operation } from '../../clients/http/operations.ts';
import { allRoutes, GENERATED_FOLDER, generatedFiles } from '../../dev/client/generated.ts';
import { ROOT } from '../../dev/stack/ports.ts';
import { ERROR_TABLE } from '../../domain/errors.ts';

test('clients/http/generated is as the API says; `npm run client:types` writes it', async () => {
  const files = await generatedFiles();
  for (const [file, shouldBe] of files)
    expect([file, readFileSync(join(ROOT, file), 'utf8') === shouldBe]).toEqual([file, true]);
  expect(readdirSync(join(ROOT, GENERATED_FOLDER)).sort()).toEqual(
    [...files.keys()].map((file) => file.split('/').at(-1)).sort(),
  );
});

test('every route is an operation, and every error has its code', () => {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS;
  expect(Object.keys(operations)).toEqual(allRoutes().map(({ id }) => id));
  const keyed = Object.keys(operations).filter((id) => operations[id]?.idempotent);
  expect(keyed).toEqual([
    'createMovement',
    'createCapitalTransfer',
    'createTemplateProposal',
    'createBridgeAttempt',
    'topUpAgentWallet',
  ]);
  expect(Object.keys(ERRORS)).toEqual(Object.keys(ERROR_TABLE));
});
