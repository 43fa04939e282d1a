// Runs once before the files of the project `stack`, outside jest's own module loader.
import { build } from '../../dev/bootstrap/build.mjs';
import { built } from '../../dev/bootstrap/programs.mjs';

export default async function setUp() {
  await build();
  const { startSharedStack, SHARED_STACK, SENT_SIGNATURES } = await import(built('shared-stack'));
  const { stop, facts } = await startSharedStack();
  globalThis.stopSharedStack = stop;
  process.env[SHARED_STACK] = JSON.stringify(facts);
  process.env[SENT_SIGNATURES] = facts.sentSignatures;
}
