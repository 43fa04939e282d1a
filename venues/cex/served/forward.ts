/** Sends the phases of served accounts to the process that has their keys. */
import type {
  CallOptions,
  ExecutionContext,
  Executor,
  ExecutorHealth,
} from '../../../domain/executor.ts';
import { TERMS } from '../../../domain/signing.ts';
import type { CexAccounts } from '../accounts.ts';
import { atRecorded, type RequireAccounts } from '../venue-entry.ts';
import type { ServedExchange } from './client.ts';

/**
 * Returns the executor under its own descriptor: the phases of a node run where the keys of its
 * `config.venue` are. What is prepared is the same, so keys may move while nodes are under way.
 * Looks first compare the accounts by this file with `requireAccounts`: the process may be silent,
 * or have an entry that is put back in its own file alone. Its own comparison counts as well.
 */
export function forwarding(
  local: Executor,
  accounts: CexAccounts,
  requireAccounts: RequireAccounts,
): Executor {
  const { descriptor } = local;
  const processes = accounts.served();
  if (processes.length === 0) return local;
  const remotes = new Map<ServedExchange, Executor>(
    processes.map((served) => [served, served.executor(descriptor)]),
  );
  /** Runs the phase here if no process serves the account: it may also be unknown. */
  const run = <T>(
    { config }: ExecutionContext,
    call: CallOptions,
    phase: (executor: Executor, call: CallOptions) => Promise<T>,
  ): Promise<T> => {
    const find = (key: unknown) => accounts.list().find(({ venue }) => venue.venue_key === key);
    const source = find(config['venue']);
    const served = source?.served ?? null;
    const remote = served === null ? undefined : remotes.get(served);
    if (source === undefined || served === null || remote === undefined) return phase(local, call);
    const destination = find(config['destination_venue']);
    const named = [source, ...(destination === undefined ? [] : [destination])];
    return phase(remote, served.callOf(named, call, descriptor.timeout_seconds));
  };
  const look: typeof run = async (context, call, phase) => {
    requireAccounts(accounts, context);
    return atRecorded(context.prior?.prepared_action?.[TERMS], () => run(context, call, phase));
  };
  const isLocal = accounts.list().some(({ venue }) => venue.credentials_file !== undefined);
  return {
    descriptor,
    preflight: (context, call) => run(context, call, (at, own) => at.preflight(context, own)),
    prepare: (context, call) => run(context, call, (at, own) => at.prepare(context, own)),
    submit: (input, call) => run(input.context, call, (at, own) => at.submit(input, own)),
    observe: (context, call, journal) =>
      look(context, call, (at, own) => at.observe(context, own, journal)),
    recover: (context, call, journal) =>
      look(context, call, (at, own) => at.recover(context, own, journal)),
    cancel: (context, call) => look(context, call, (at, own) => at.cancel(context, own)),
    health: async (call) =>
      joined(
        await Promise.all([
          ...(isLocal ? [local.health(call)] : []),
          ...processes.map((served) => served.health(descriptor.executor_key, call)),
        ]),
      ),
  };
}

/** Up only if all are up. */
function joined(all: readonly ExecutorHealth[]): ExecutorHealth {
  const state =
    all.find((each) => each.state === 'down')?.state ??
    all.find((each) => each.state === 'unknown')?.state ??
    'up';
  const detail = all.flatMap((each) => each.detail ?? []).join('; ');
  return detail === '' ? { state } : { state, detail };
}
