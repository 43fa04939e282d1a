// Runs once before the files of the project `stack`, outside jest's own module loader.
import { register } from 'tsx/esm/api';

export default async function setUp() {
  const unregister = register();
  const { startSharedStack, SHARED_STACK } = await import('./shared-stack.ts');
  const { SENT_SIGNATURES } = await import('./sent-signatures.ts');
  const { stop, facts } = await startSharedStack();
  await unregister();
  globalThis.stopSharedStack = stop;
  process.env[SHARED_STACK] = JSON.stringify(facts);
  process.env[SENT_SIGNATURES] = facts.sentSignatures;
}
