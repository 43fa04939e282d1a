/** A rotation whose replacement changes its identity: the database is not called then. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { rotate } from '../../api/signers/rotate.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import type { Requester } from '../../domain/commands/context.ts';
import type { Signer } from '../../domain/signer.ts';
import { createRemoteSigner } from '../../signers/remote.ts';
import { PROXY_TOKEN, startSignerProxy, type SignerProxy } from '../support/signer-proxy.ts';
import { dependencies } from './support.ts';

const PINNED = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const requester: Requester = {
  caller: { client_id: null, key_id: null, role: 'admin' },
  request_id: 'a-test',
};

/** A signer that answers these in turn, the last one for ever. */
function signer(...answers: readonly (string | null | Error)[]): Signer {
  let calls = 0;
  const refuse = () => Promise.reject(new Error('it signs nothing'));
  return {
    descriptor: { signer_key: 'next', backend: 'remote', chain_family: 'evm' },
    identity: () => {
      const answer = answers[Math.min(calls, answers.length - 1)] ?? null;
      calls += 1;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    recentIdentity: refuse,
    signEvmTransaction: refuse,
    signEvmTypedData: refuse,
  };
}

let proxy: SignerProxy;
let folder: string;
const opened: Signer[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rotation-'));
  writeFileSync(join(folder, 'token'), PROXY_TOKEN, { mode: 0o600 });
  proxy = await startSignerProxy(`0x${'11'.repeat(32)}`);
});
afterAll(async () => {
  for (const each of opened) await each.close?.();
  await proxy.close();
  rmSync(folder, { recursive: true });
});

/** A signer behind HTTP that says this of who it is. */
async function remote(claimed: string): Promise<Signer> {
  proxy.claimed = claimed;
  const settings = { url: proxy.url, auth_token_file: join(folder, 'token'), timeout_seconds: 5 };
  const made = createRemoteSigner({ signer_key: 'next', chain_family: 'evm' }, settings);
  opened.push(made);
  return made;
}

function world(next: Signer): { readonly deps: ApiDependencies; readonly written: string[] } {
  const written: string[] = [];
  const start = { pin: PINNED, observed_at: null, known_addresses: [OTHER], problem: null };
  const sql = (text: TemplateStringsArray): Promise<unknown[]> => {
    const statement = text.join('?');
    written.push(/\w+_\w+\(/.exec(statement)?.[0] ?? statement);
    if (statement.includes('read_rotation')) return Promise.resolve([{ answer: start }]);
    const impact = { remapped: 0, kept: [], open_nonces: 0, pending_approval: 0 };
    return Promise.resolve([{ answer: { ok: true, impact } }]);
  };
  const deps = {
    ...dependencies(),
    db: { sql, auditMac: () => null } as unknown as ApiDependencies['db'],
    log: pino({ level: 'silent' }),
    signers: { list: () => [], get: (key: string) => (key === 'next' ? next : undefined) },
  };
  return { deps, written };
}

const ask = (deps: ApiDependencies) =>
  rotate(
    {
      params: { signer_key: 'old' },
      body: { replace_with: 'next', reason: 'a test', drill: false, ack_impact: true },
      requester,
    },
    deps,
  );

test.each<[string, string, readonly (string | null | Error)[]]>([
  ['does not answer', 'new_signer_health_check_failed', [new Error('away')]],
  ['tells nothing', 'signer_runtime_identity_unavailable', [null]],
  ['tells no address', 'signer_runtime_identity_invalid', ['0x12']],
  ['tells zero', 'signer_runtime_identity_invalid', [`0x${'0'.repeat(40)}`]],
  ['is remote and returns no address', 'signer_runtime_identity_invalid', ['0x12']],
  ['is remote and returns zero', 'signer_runtime_identity_invalid', [`0x${'0'.repeat(40)}`]],
  ['is remote and returns nothing', 'signer_runtime_identity_invalid', ['']],
  ['tells another address', 'signer_identity_mismatch', [OTHER]],
  ['tells another address the next time', 'signer_runtime_identity_unavailable', [PINNED, OTHER]],
  ['tells nothing the next time', 'signer_runtime_identity_unavailable', [PINNED, null]],
])('a replacement that %s is refused', async (what, code, answers) => {
  const isRemote = what.startsWith('is remote');
  const next = isRemote ? await remote(String(answers[0])) : signer(...answers);
  const { deps, written } = world(next);
  await expect(ask(deps)).rejects.toMatchObject({ code });
  expect(written).toEqual(['read_rotation(', 'write_audit(']);
});

test('one that stays whom it is pinned to takes the place', async () => {
  const { deps, written } = world(signer(PINNED.toLowerCase()));
  expect(await ask(deps)).toMatchObject({ status: 200, body: { outcome: 'changed' } });
  expect(written).toEqual(['read_rotation(', 'rotate_signer(']);
});
