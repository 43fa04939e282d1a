/**
 * The examples of the API's document against what the service answers: an example is an earlier
 * answer, and a present one has the same fields, with values of the same forms. With
 * RECORD_EXAMPLES=true (`npm run docs:examples`) the answers are written down instead.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { ROOT } from '../../dev/stack/ports.ts';

type Json = Readonly<Record<string, unknown>>;

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: { readonly 'application/json': Media } };
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: Media } }>
  >;
}

export interface ServedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly examples?: readonly Json[] }>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly [group: string]: unknown;
  };
}

interface Written {
  answers: Record<string, Record<string, unknown>>;
  refusals: Record<string, unknown>;
}

const RECORDING = process.env['RECORD_EXAMPLES'] === 'true';
const FILE = join(ROOT, 'api', 'openapi', 'seen.json');
/** Longer lists are cut: three entries show what a fourth is like. */
const MOST_ENTRIES = 3;

/** The examples of the document that one service serves. */
export class SeenExamples {
  readonly document: ServedDocument;
  /** What was answered, as `operation status`, and by code. */
  readonly answers = new Map<string, unknown>();
  readonly refusals = new Map<string, unknown>();
  readonly #operations: ReadonlyMap<string, Operation>;

  constructor(document: ServedDocument) {
    this.document = document;
    this.#operations = new Map(
      Object.values(document.paths).flatMap((item) =>
        Object.values(item).map((operation) => [operation.operationId, operation]),
      ),
    );
  }

  /** Reads the document at an operations listener. */
  static async servedBy(opsUrl: string): Promise<SeenExamples> {
    const answer = await fetch(`${opsUrl}/openapi.json`);
    return new SeenExamples((await answer.json()) as ServedDocument);
  }

  /** The document's example of what the operation is sent. */
  request(operationId: string): Json {
    const name = this.#requestSchema(operationId);
    const [example] = this.document.components.schemas[name]?.examples ?? [];
    if (example === undefined) throw new Error(`${operationId} has no example of its request`);
    return example;
  }

  /** Every operation whose request has an example. */
  requests(): readonly string[] {
    return [...this.#operations.keys()].filter(
      (id) =>
        this.document.components.schemas[this.#requestSchema(id)]?.examples?.[0] !== undefined,
    );
  }

  /** Expects that all examples were seen: here, or elsewhere where they are named. */
  expectAllSeen(elsewhere: {
    readonly answers: readonly string[];
    readonly refusals: readonly string[];
  }): void {
    if (RECORDING) return;
    expect([...this.answers.keys(), ...elsewhere.answers].sort()).toEqual(
      [...this.#documented()].sort(),
    );
    expect([...this.refusals.keys(), ...elsewhere.refusals].sort()).toEqual(
      Object.keys(this.document.components.examples).sort(),
    );
  }

  #documented(): readonly string[] {
    return [...this.#operations.values()].flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { content }]) =>
        content?.['application/json']?.example === undefined ? [] : [`${operationId} ${status}`],
      ),
    );
  }

  /** Holds the example of an answer against the answer. */
  answered(operationId: string, status: number, body: unknown): void {
    this.answers.set(`${operationId} ${String(status)}`, body);
    if (RECORDING) return;
    const { content } = this.#operations.get(operationId)?.responses[status] ?? {};
    const example = content?.['application/json']?.example;
    expect({ operationId, status, differs: differences(example, body) }).toEqual({
      operationId,
      status,
      differs: [],
    });
  }

  /** Holds the example of an error against the answer. */
  refused(body: unknown): void {
    const { detail } = body as { detail: string | { error: string } };
    // The one refusal that is a sentence alone.
    const error = typeof detail === 'string' ? 'rate_limited' : detail.error;
    this.refusals.set(error, body);
    if (RECORDING) return;
    const example = this.document.components.examples[error]?.value;
    expect({ error, differs: differences(example, body) }).toEqual({ error, differs: [] });
  }

  /** The document with what was answered in place of its examples. */
  withAnswers(): unknown {
    const copy = structuredClone(this.document) as unknown as {
      paths: Record<string, Record<string, Operation>>;
    };
    for (const item of Object.values(copy.paths))
      for (const { operationId, responses } of Object.values(item))
        for (const [status, { content }] of Object.entries(responses)) {
          const media = content?.['application/json'] as { example?: unknown } | undefined;
          const answer = this.answers.get(`${operationId} ${status}`);
          if (media !== undefined && answer !== undefined) media.example = answer;
        }
    return copy;
  }

  /** While recording, adds what was answered to the file of examples. */
  async write(places: Readonly<Record<string, string>> = {}): Promise<void> {
    if (!RECORDING) return;
    const written = JSON.parse(readFileSync(FILE, 'utf8')) as Written;
    for (const [name, body] of this.answers) {
      const [id = '', status = ''] = name.split(' ');
      (written.answers[id] ??= {})[status] = shortened(body);
    }
    for (const [code, body] of this.refusals) written.refusals[code] = shortened(body);
    let text = JSON.stringify({
      answers: sorted(written.answers),
      refusals: sorted(written.refusals),
    });
    // The ports were any free ones; a reader knows the usual.
    for (const [place, usual] of Object.entries(places)) text = text.replaceAll(place, usual);
    writeFileSync(FILE, await format(text, { parser: 'json', printWidth: 100 }));
  }

  #requestSchema(operationId: string): string {
    const { requestBody } = this.#operations.get(operationId) ?? {};
    return (requestBody?.content['application/json'].schema.$ref ?? '').replace(/^.*\//, '');
  }
}

const FORMS: readonly (readonly [string, RegExp])[] = [
  ['id', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/],
  ['time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
  ['decimal', /^-?\d+(\.\d+)?$/],
  ['hash', /^[0-9a-f]{64}$/],
  ['transaction', /^0x[0-9a-f]{64}$/],
  ['address', /^0x[0-9a-fA-F]{40}$/],
  ['place on the web', /^https?:\/\//],
];

function formOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'string') return typeof value;
  return FORMS.find(([, form]) => form.test(value))?.[0] ?? 'text';
}

/**
 * Where two answers have other fields or values of other forms; entries of lists stand in any
 * order.
 */
function differences(example: unknown, answer: unknown, at = ''): readonly string[] {
  const [shown, answered] = [formOf(example), formOf(answer)];
  if (shown !== answered) return [`${at} is shown as ${shown}, answered as ${answered}`];
  if (Array.isArray(example) && Array.isArray(answer)) {
    if (answer.length === 0 && example.length > 0) return [`${at} is answered empty`];
    return example.flatMap((entry, index) => {
      const each = answer.map((one) => differences(entry, one, `${at}[${String(index)}]`));
      return each.some((found) => found.length === 0) ? [] : (each[index] ?? each[0] ?? []);
    });
  }
  if (shown !== 'object') return [];
  const [left, right] = [example as Json, answer as Json];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) => {
    if (!(name in left)) return [`${at}.${name} is not shown`];
    if (!(name in right)) return [`${at}.${name} is not answered`];
    return differences(left[name], right[name], `${at}.${name}`);
  });
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MOST_ENTRIES).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each)]));
}

function sorted<T>(by: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(by).sort(([a], [b]) => (a < b ? -1 : 1)));
}
