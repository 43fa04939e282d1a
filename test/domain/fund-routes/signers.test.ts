/** Why a signer that a route's nodes select cannot sign now. */
import { toFundRoute } from '../../../domain/fund-routes/fund-route.ts';
import { signerProblems, type StoredSigner } from '../../../domain/fund-routes/signers.ts';
import type { SignerDescriptor } from '../../../domain/signer.ts';
import { node, source } from './build.ts';

const signer = (signer_key: string, profile?: string): SignerDescriptor => ({
  ...{ signer_key, backend: 'local', chain_family: 'evm' },
  ...(profile === undefined ? {} : { profile }),
});
const stored = (signer_key: string, more: Partial<StoredSigner> = {}): StoredSigner => ({
  ...{ signer_key, status: 'active', chain_family: 'evm', profile: signer_key },
  ...{ replaced_by: null, is_drifted: false, ...more },
});
const DESK = { chain_family: 'evm', profile: 'desk' };
/** The problem of the selector `desk`, with these signers in the process and these rows. */
const problem = (rows: readonly StoredSigner[], signers = [signer('desk', 'desk')]) =>
  signerProblems(signers, rows)(DESK);

test.each<[string, readonly StoredSigner[]]>([
  ['without a row', []],
  ['that is active and has its pinned address', [stored('desk')]],
  ['beside one of another profile that is disabled', [stored('other', { status: 'disabled' })]],
])('a signer %s can sign', (_what, rows) => {
  expect(problem(rows)).toBeNull();
});

test.each(['disabled', 'deprecated', 'retired'])('one that is %s cannot', (status) => {
  expect(problem([stored('desk', { status })])).toBe(`SIGNER_DISABLED: signer desk is ${status}`);
});

test('nor can one whose address is not its pin', () => {
  expect(problem([stored('desk', { is_drifted: true })])).toBe(
    'SIGNER_IDENTITY_MISMATCH: the address of signer desk is not its pinned address',
  );
});

test('a selector that matches no signer, or several, binds none', () => {
  expect(problem([], [])).toBe(
    'binding_unresolved: no signer matches chain_family=evm,profile=desk',
  );
  const twins = [signer('desk', 'desk'), signer('twin', 'desk')];
  expect(problem([], twins)).toBe(
    'binding_unresolved: several signers match chain_family=evm,profile=desk',
  );
  expect(signerProblems(twins, [])({ chain_family: 'evm' })).toBe(
    'binding_unresolved: several signers match chain_family=evm',
  );
});

describe('a signer that was replaced', () => {
  const former = stored('desk', { status: 'deprecated', replaced_by: 'next' });
  const both = [signer('desk', 'desk'), signer('next', 'next')];

  test('stands for the one that replaced it', () => {
    expect(problem([former, stored('next')], both)).toBeNull();
    expect(problem([former, stored('next', { status: 'disabled' })], both)).toBe(
      'SIGNER_DISABLED: signer next is disabled',
    );
  });

  test('by one that this process does not have cannot sign', () => {
    expect(problem([former, stored('next')])).toBe('SIGNER_MISSING: signer next is not registered');
  });
});

test('selectors that differ in their profile alone are judged apart', () => {
  const problemOf = signerProblems(
    [signer('desk', 'desk'), signer('other', 'other')],
    [stored('other', { status: 'disabled' })],
  );
  expect(problemOf(DESK)).toBeNull();
  expect(problemOf({ ...DESK, profile: 'other' })).toContain('SIGNER_DISABLED');
  expect(problemOf(DESK)).toBeNull();
});

test('of a route: every node with a signer, without those of reserved action types', () => {
  const signed = (action_type: string) => node(action_type, { signer_selector: DESK });
  const nodes = [
    node('cex_internal_transfer'),
    signed('evm_erc20_transfer'),
    signed('noop'),
    signed('agent_wallet_top_up'),
  ];
  expect(toFundRoute(source({ nodes }), true).signing_selectors).toEqual([
    { signer: DESK, selector: { action_type: 'evm_erc20_transfer' } },
    { signer: DESK, selector: { action_type: 'noop' } },
  ]);
});
