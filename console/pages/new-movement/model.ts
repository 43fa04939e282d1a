/**
 * The create request as a form: fields from the template, and the body that is previewed and sent.
 */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { isObject } from '../../../domain/json.ts';
import type { Body } from '../../parts/write.tsx';
import type { Entry, EntryKind } from '../../parts/form-model.ts';

export type Template = ResultOf<'getPlanTemplate'>;

/** Returns the fields that every movement has, filled with values from a route or the URL. */
export function commonEntries(chosen: Readonly<Record<string, string | undefined>>): Entry[] {
  const intent = (
    name: string,
    label: string,
    kind: EntryKind,
    empty: Entry['empty'],
    hint?: string,
  ): Entry => ({
    at: ['intent', name],
    label,
    kind,
    empty,
    initial: chosen[name] ?? '',
    ...(hint === undefined ? {} : { hint }),
  });
  return [
    intent('asset', 'Asset', 'text', 'required'),
    intent('amount', 'Amount', 'decimal', 'required', 'In units of the asset, above zero.'),
    intent(
      'destination_address',
      'Pays to',
      'text',
      'left_out',
      'One that the plan pays, by its template or input parameters; this field chooses none.',
    ),
    intent('chain_id', 'On chain', 'integer', 'left_out'),
    intent('source_venue', 'From venue', 'text', 'left_out'),
    intent('destination_venue', 'To venue', 'text', 'left_out'),
    { at: ['strategy_id'], label: 'Strategy', kind: 'text', empty: 'left_out' },
  ];
}

/** Fields that the service stores with the movement and that are not part of the plan. */
export const LAST_ENTRIES: readonly Entry[] = [
  {
    at: ['external_reference'],
    label: 'Your own reference',
    kind: 'text',
    empty: 'left_out',
    hint: 'What your books name it by; no part of the plan.',
  },
  {
    at: ['unique_reference'],
    label: 'Refuse it where the reference is taken',
    kind: 'boolean',
    empty: 'left_out',
  },
  {
    at: ['metadata'],
    label: 'Metadata',
    kind: 'pairs',
    empty: 'left_out',
    hint: 'name=value, one a line',
  },
  {
    at: ['labels'],
    label: 'Labels',
    kind: 'pairs',
    empty: 'left_out',
    hint: 'name=value, one a line',
  },
  {
    at: ['approval_ttl_seconds'],
    label: 'Waits for its approval (seconds)',
    kind: 'integer',
    empty: 'left_out',
    hint: 'The setting of the service where it is left out.',
  },
  {
    at: ['callback_url'],
    label: 'Callbacks go to',
    kind: 'text',
    empty: 'left_out',
  },
];

const OTHER: Entry = {
  at: ['input_params'],
  label: 'Other input parameters',
  kind: 'json',
  empty: 'left_out',
  hint: 'A JSON object; part of the plan. What the fields above say is added to its node_config.',
};

const KINDS: Readonly<Record<string, EntryKind>> = {
  integer: 'integer',
  boolean: 'boolean',
  string: 'text',
};

/**
 * Returns fields from the input schemas of the template's nodes. Each property fills `node_config`
 * of the input parameters, which is added to the config of every node. A property that a node's
 * config sets is not offered, because the template's value would win.
 */
export function schemaEntries({ nodes }: Pick<Template, 'nodes'>): readonly Entry[] {
  const entries = new Map<string, Entry>();
  for (const { node_key, input_schema, config } of nodes) {
    const properties = input_schema?.['properties'];
    if (!isObject(properties)) continue;
    const required = input_schema?.['required'];
    for (const [name, schema] of Object.entries(properties)) {
      if (Object.hasOwn(config ?? {}, name)) continue;
      const described = isObject(schema) ? schema : {};
      const needed = Array.isArray(required) && required.includes(name);
      const { type, title, description, enum: options } = described;
      const words = Array.isArray(options)
        ? options.filter((each) => typeof each === 'string')
        : [];
      const known = entries.get(name);
      entries.set(name, {
        at: ['input_params', 'node_config', name],
        label: `${typeof title === 'string' ? title : name} (${node_key})`,
        kind: KINDS[String(type)] ?? 'json',
        empty: needed || known?.empty === 'required' ? 'required' : 'left_out',
        ...(typeof description === 'string' ? { hint: description } : {}),
        ...(words.length > 0 ? { options: words } : {}),
      });
    }
  }
  return [...entries.values()];
}

/**
 * Returns all fields of the form in order. The free JSON comes before the fields that add to it.
 */
export function entriesOf(
  template: Pick<Template, 'nodes'>,
  chosen: Readonly<Record<string, string | undefined>>,
): readonly Entry[] {
  return [...commonEntries(chosen), OTHER, ...schemaEntries(template), ...LAST_ENTRIES];
}

/** Returns the body of the create request, without its idempotency key. */
export function createBody(
  { template_key, version }: Pick<Template, 'template_key' | 'version'>,
  filled: Body,
): Body {
  return { template_key, template_version: version, ...filled };
}

/**
 * Returns whether a preview shows exactly the body that would be sent; the preview of another body
 * does not count.
 */
export function isOf(preview: { readonly body: Body } | null, body: Body | null): boolean {
  return preview !== null && body !== null && JSON.stringify(preview.body) === JSON.stringify(body);
}

export interface Pending {
  readonly operator: string;
  /**
   * Idempotency key, made once for this movement: a repeat with this key creates no second
   * movement.
   */
  readonly key: string;
  readonly body: Body;
}

/**
 * Returns a stored create request whose response was never received; null when the text is not one
 * of this operator.
 */
export function pendingOf(text: string | null, operator: string): Pending | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isPending =
      isObject(value) &&
      value['operator'] === operator &&
      typeof value['key'] === 'string' &&
      isObject(value['body']);
    return isPending ? (value as unknown as Pending) : null;
  } catch {
    return null;
  }
}

type Preview = { readonly blocking_reasons: readonly Readonly<Record<string, unknown>>[] };

/**
 * Returns the id of the movement that this create request has already made, from a preview with its
 * key; null when there is none.
 */
export function madeAlready({ blocking_reasons }: Preview): string | null {
  const made = blocking_reasons.find(({ error }) => error === 'idempotent_replay');
  const id = made?.['movement_id'];
  return typeof id === 'string' ? id : null;
}
