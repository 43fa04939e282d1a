/** Bindings that only this process can check; the database knows which are switched off. */
import type { BindingProblem, Transition } from '../../domain/transition.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** Returns the executors and signers among `needed` that this process lacks. */
export function missingBindings(
  needed: NonNullable<Transition['require']>,
  deps: Pick<ApiDependencies, 'executors' | 'signers'>,
): readonly BindingProblem[] {
  const executors = new Set(deps.executors.list().map((each) => each.executor_key));
  const signers = new Set(deps.signers.list().map((each) => each.signer_key));
  return [
    ...needed.executors
      .filter((key) => !executors.has(key))
      .map((key) => ({ binding: 'executor', key, reason: 'not_registered' }) as const),
    ...needed.signers
      .filter(({ signer_key }) => !signers.has(signer_key))
      .map(
        ({ signer_key }) =>
          ({ binding: 'signer', key: signer_key, reason: 'not_registered' }) as const,
      ),
  ];
}
