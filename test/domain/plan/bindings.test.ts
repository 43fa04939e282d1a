import type { ExecutorDescriptor } from '../../../domain/executor.ts';
import { resolveBindings } from '../../../domain/plan/bindings.ts';
import type { TemplateNode } from '../../../domain/plan/types.ts';
import type { SignerDescriptor } from '../../../domain/signer.ts';

const executor = (
  executor_key: string,
  action_types: string[],
  more: Partial<ExecutorDescriptor> = {},
): ExecutorDescriptor => ({
  executor_key,
  kind: 'local',
  action_types,
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 30,
  in_process: true,
  sends: true,
  not_payees: [],
  completion_assurances: ['provider_completed'],
  ...more,
});
const signer = (signer_key: string, profile?: string, chain_family = 'evm'): SignerDescriptor => ({
  signer_key,
  backend: 'local',
  chain_family,
  ...(profile === undefined ? {} : { profile }),
});
const node = (action_type: string, more: Partial<TemplateNode> = {}): TemplateNode => ({
  node_key: 'n',
  node_kind: 'action',
  action_type,
  has_side_effect: true,
  ...more,
});
const executors = [
  executor('paper', ['cex_withdrawal'], { provider: 'paper' }),
  executor('other', ['cex_withdrawal'], { provider: 'other' }),
  executor('evm', ['evm_native_transfer'], { chain_family: 'evm' }),
  executor('noop', ['noop']),
];
const signers = [signer('hot', 'hot'), signer('cold', 'cold')];
const resolve = (...nodes: TemplateNode[]) => resolveBindings(nodes, { executors, signers });

describe('resolveBindings', () => {
  it('selects by action type where there is no selector', () => {
    const bound = {
      executor_binding: { executor_key: 'noop' },
      signer_binding: null,
      executor_sends: true,
    };
    expect(resolve(node('noop')).bindings.get('n')).toEqual(bound);
  });

  it('narrows by every field of the selector', () => {
    const { bindings, unresolved } = resolve(
      node('x', { executor_selector: { action_type: 'cex_withdrawal', provider: 'other' } }),
    );
    expect([bindings.get('n')?.executor_binding, unresolved]).toEqual([
      { executor_key: 'other' },
      [],
    ]);
  });

  it('never guesses among several', () => {
    const { bindings, unresolved } = resolve(node('cex_withdrawal'));
    expect(bindings.size).toBe(0);
    expect(unresolved).toEqual([
      { node_key: 'n', binding: 'executor', reason: 'ambiguous', candidates: ['paper', 'other'] },
    ]);
  });

  it('tells what is missing', () => {
    const { unresolved } = resolve(
      node('unheard_of'),
      node('noop', { executor_selector: { action_type: 'noop', provider: 'unknown' } }),
    );
    expect(unresolved).toEqual([
      { node_key: 'n', binding: 'executor', reason: 'missing', candidates: [] },
      { node_key: 'n', binding: 'executor', reason: 'missing', candidates: [] },
    ]);
  });

  it('picks a signer by profile, and needs one for what signs', () => {
    const picked = resolve(
      node('evm_native_transfer', { signer_selector: { chain_family: 'evm', profile: 'cold' } }),
    );
    expect(picked.bindings.get('n')?.signer_binding).toEqual({ signer_key: 'cold' });
    const several = resolve(
      node('evm_native_transfer', { signer_selector: { chain_family: 'evm' } }),
    );
    expect(several.unresolved).toEqual([
      { node_key: 'n', binding: 'signer', reason: 'ambiguous', candidates: ['hot', 'cold'] },
    ]);
    const none = resolve(node('evm_native_transfer', { signer_selector: { chain_family: 'svm' } }));
    expect(none.unresolved).toEqual([
      { node_key: 'n', binding: 'signer', reason: 'missing', candidates: [] },
    ]);
    expect(resolve(node('evm_native_transfer')).unresolved).toMatchObject([
      { binding: 'signer', reason: 'missing' },
    ]);
  });

  it('binds to who replaced a signer, which is not two with the one that it replaced', () => {
    const pay = (selector: TemplateNode['signer_selector']) =>
      node('evm_native_transfer', selector === undefined ? {} : { signer_selector: selector });
    const replaced = [
      { signer_key: 'gone', chain_family: 'evm', profile: 'old', replaced_by: 'hot' },
      { signer_key: 'hot', chain_family: 'evm', profile: 'hot', replaced_by: 'cold' },
    ];
    const bound = (selector: TemplateNode['signer_selector']) =>
      resolveBindings([pay(selector)], { executors, signers, replaced }).bindings.get('n')
        ?.signer_binding;
    // `gone` is no longer in any process's memory.
    for (const selector of [
      { chain_family: 'evm', profile: 'old' },
      { chain_family: 'evm', profile: 'hot' },
      { chain_family: 'evm', profile: 'cold' },
      { chain_family: 'evm' },
    ])
      expect(bound(selector)).toEqual({ signer_key: 'cold' });
  });

  it('binds the one signer that may be bound, or who replaced it, whoever else matches', () => {
    const pay = node('evm_native_transfer', { signer_selector: { chain_family: 'evm' } });
    const replaced = [{ signer_key: 'gone', chain_family: 'evm', replaced_by: 'cold' }];
    const bound = (signer: string) =>
      resolveBindings([pay], { executors, signers, replaced, signer }).bindings.get('n')
        ?.signer_binding;
    expect([bound('hot'), bound('gone')]).toEqual([{ signer_key: 'hot' }, { signer_key: 'cold' }]);
  });
});
