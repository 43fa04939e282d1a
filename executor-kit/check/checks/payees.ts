/**
 * Checks whom an executor pays: compares prepare's answer with the fields that the registry entry
 * will declare, by the service's own rules.
 */
import { ownDestinations, withoutKnown } from '../../../domain/allowlist/declared.ts';
import type { Destination } from '../../../domain/allowlist/destination.ts';
import { ExecutorFault, type PayeeField } from '../../../domain/executor.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import { isBuiltIn } from '../../../domain/actions/built-in.ts';
import type { Bench } from '../bench.ts';
import type { Check } from '../verdict.ts';
import { Broken } from '../broken.ts';

const DECLARE =
  'If the address is paid, name its field in payees, else in not_payees; prepare must not add a payee that the plan does not name.';
const FOLLOW =
  'Use the same fields in config and prepared_action, and take payees only from the context.';
const EVM = /^0x[0-9a-f]{40}$/i;

/**
 * Returns the payees that the service would find in a config and, unless it is null, in the action
 * that was prepared from that config.
 */
function paid(
  bench: Bench,
  config: JsonObject,
  prepared_action: JsonObject | null,
): readonly Destination[] {
  const { actionType, asset, amount, inputParams, payees = [], notPayees, signer } = bench.options;
  const found = ownDestinations({
    node: { node_key: 'executor-check', action_type: actionType, config },
    executor: { sends: true, payees, not_payees: notPayees, action_types: [actionType] },
    intent: { asset, amount },
    input_params: inputParams,
    prepared_action,
  });
  const token = config['token_address'];
  return withoutKnown(found, [
    ...(signer === undefined ? [] : [signer.address]),
    ...(typeof token === 'string' ? [token] : []),
  ]);
}

/** Throws unless each declared field names a payee and no other payee is named. */
function mustBeDeclared(destinations: readonly Destination[], where: string, advice: string): void {
  const refused = destinations.find(({ problem }) => problem !== undefined);
  if (refused?.problem !== undefined) throw new Broken(`${where}: ${refused.problem}`, advice);
  const aside = destinations.find((each) => each.aside === true);
  if (aside === undefined) return;
  throw new Broken(
    `${where}: ${aside.address} is an EVM address, and no declared field names it: the service takes it for a payee`,
    DECLARE,
  );
}

function mustBeAddresses(bench: Bench, destinations: readonly Destination[]): void {
  const odd = destinations.find(
    ({ chain_family, address, aside }) =>
      aside !== true && chain_family === 'evm' && !EVM.test(address),
  );
  if (odd === undefined) return;
  throw new Broken(
    `${odd.address} is declared as family evm, and is no address of such a chain`,
    `Give --config with a payee that can be paid, or declare the field as family cex (--payees ${JSON.stringify(bench.options.payees)}).`,
  );
}

/** Returns another payee of the same form: only the last character differs. */
function another(text: string): string {
  const last = text.at(-1) ?? '';
  return text.slice(0, -1) + (last === '1' ? '2' : '1');
}

/** Returns the config with another payee in a declared field; null without that field. */
function withAnother(config: JsonObject, field: string): JsonObject | null {
  const changed = change(config, field.split('.'));
  return changed === null ? null : (changed as JsonObject);
}

function change(value: JsonValue, path: readonly string[]): JsonValue | null {
  if (Array.isArray(value)) {
    const each = (value as readonly JsonValue[]).map((inner) => change(inner, path));
    return each.length === 0 || each.some((inner) => inner === null)
      ? null
      : (each as readonly JsonValue[] as JsonValue);
  }
  const [name, ...rest] = path;
  if (name === undefined) return typeof value === 'string' && value !== '' ? another(value) : null;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
  const inner = change((value as JsonObject)[name] ?? null, rest);
  return inner === null ? null : { ...(value as JsonObject), [name]: inner };
}

/** Prepares for another payee; returns null when the executor refuses, which it may. */
async function preparedFor(bench: Bench, config: JsonObject): Promise<JsonObject | null> {
  const answer = await bench
    .call('prepare', () => bench.target.executor.prepare(bench.context({ config }), bench.limits()))
    .catch((error: unknown) => {
      if (error instanceof ExecutorFault && error.kind === 'rejected') return null;
      throw error;
    });
  return answer?.next_state === 'SUBMITTING' ? (answer.prepared_action ?? {}) : null;
}

async function mustFollow(bench: Bench, { field }: PayeeField): Promise<void> {
  const config = withAnother(bench.options.config, field);
  if (config === null) return;
  const prepared = await preparedFor(bench, config);
  if (prepared === null) return;
  mustBeDeclared(paid(bench, config, prepared), `prepare for somebody else in ${field}`, FOLLOW);
}

export const PAYEES: readonly Check[] = [
  {
    id: 'payees',
    guarantee: 'Prepare returns exactly the payees of the declared fields, and no other address.',
    notHere: ({ options: { sends, actionType, payees } }) => {
      if (!sends) return 'declared as sends: false, so the executor pays no one';
      if (isBuiltIn(actionType)) return `the service knows by itself whom ${actionType} pays`;
      return payees === undefined
        ? 'no --payees: pass the payees of the registry entry, or [] when a plan cannot choose the payee'
        : null;
    },
    run: async (bench) => {
      const { config, payees = [] } = bench.options;
      const planned = paid(bench, config, null);
      mustBeDeclared(
        planned,
        'the config',
        'Give --config in which each declared field names a payee, and --payees as in the registry entry.',
      );
      mustBeAddresses(bench, planned);
      const { prepared_action } = await bench.prepare();
      mustBeDeclared(paid(bench, config, prepared_action), 'prepare', FOLLOW);
      for (const payee of payees) await mustFollow(bench, payee);
      if (payees.length > 0 && Object.keys(prepared_action).length === 0)
        return 'prepared_action is empty, so only the config was checked';
    },
  },
];
