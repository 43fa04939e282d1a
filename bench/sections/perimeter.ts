/**
 * What stands before a movement: the API's layers against a bare Express route, in the same minutes
 * and by the same caller.
 */
import pg from 'pg';
import { cpuBetween } from '../cpu.ts';
import { RATIO } from '../goals.ts';
import { latenciesOf, throughputOf, type RequestKind, type Target } from '../load/requests.ts';
import { preparePerimeter } from '../load/perimeter.ts';
import { PERIMETER_LAYERS, type PerimeterLayer } from '../processes/part.ts';
import { quantile, ratios } from '../stats.ts';
import type { BenchStack } from '../stack.ts';
import type { Section } from './context.ts';

const REQUESTS = 3_000;
/** What the rate of the latency measurement is, and for how long. */
const RATE = { rate: 100, seconds: 10 };
const WARM_UP = { rate: 100, seconds: 2 };
/** The layers whose latencies are compared. */
const ENDS = ['bare', 'whole'] as const;
type Ends = (typeof ENDS)[number];

const LABELS: Readonly<Record<PerimeterLayer, string>> = {
  bare: 'bare Express route',
  validated: 'validated, nothing behind it',
  signed: '… and signed',
  nonce: '… and its nonce taken',
  counted: '… and counted by all APIs together',
  whole: 'the whole request',
};

/** The processes that answer, and what they are called: every layer is of one process. */
const PARTS = { perimeter: 'API', postgres: 'Postgres' } as const;
const PART_NAMES = ['perimeter', 'postgres'] as const;

export const perimeter: Section = async ({ stack, collect, rounds, quick }) => {
  const { ports } = stack.settings.perimeter;
  const { read, create } = await preparePerimeter(stack.settings);
  const count = quick ? 300 : REQUESTS;
  const figures = new Map<string, number[]>();
  const stub = (kind: RequestKind): RequestKind => ({ ...kind, paths: ['/v3/stub'] });
  const target = (layer: PerimeterLayer, kind: RequestKind): Target => ({
    port: ports[layer],
    kind: layer === 'whole' ? kind : stub(kind),
  });

  for (const [name, kind] of Object.entries({ read, create })) {
    for (const layer of PERIMETER_LAYERS) await throughputOf(target(layer, kind), 200);
    for (let round = 0; round < rounds; round += 1)
      for (const layer of PERIMETER_LAYERS)
        for (const [what, value] of await measured(stack, target(layer, kind), count))
          add(figures, `${name} ${layer} ${what}`, value);
    const of = (layer: PerimeterLayer, what = '/s'): number[] =>
      figures.get(`${name} ${layer} ${what}`) ?? [];
    for (const layer of PERIMETER_LAYERS) {
      const label = `${name}: ${LABELS[layer]}`;
      collect.add('perimeter', label, '/s', of(layer));
      for (const part of PART_NAMES)
        collect.add('perimeter', `${label}, CPU a request, ${PARTS[part]}`, 'ms', of(layer, part));
    }
    for (const layer of PERIMETER_LAYERS.slice(1, -1))
      collect.add(
        'perimeter',
        `${name}: ${LABELS[layer]} / bare`,
        '',
        ratios(of(layer), of('bare')),
      );
    collect.add(
      'perimeter',
      name === 'read' ? RATIO.signedRead : RATIO.signedCreate,
      '',
      ratios(of('whole'), of('bare')),
    );
  }

  const rate = quick ? { rate: 100, seconds: 2 } : RATE;
  const seen: Record<Ends, { readonly p50: number[]; readonly p99: number[] }> = {
    bare: { p50: [], p99: [] },
    whole: { p50: [], p99: [] },
  };
  await tidied(stack.settings.perimeter.databaseUrl);
  // Connections and pools are warm before anything counts, and plan anew what was analyzed.
  for (const layer of ENDS) {
    await throughputOf(target(layer, read), 400);
    await latenciesOf(target(layer, read), WARM_UP);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const layer of ENDS) {
      const latencies = await latenciesOf(target(layer, read), rate);
      seen[layer].p50.push(quantile(latencies, 0.5));
      seen[layer].p99.push(quantile(latencies, 0.99));
    }
  }
  for (const layer of ENDS) {
    for (const which of ['p50', 'p99'] as const)
      collect.add(
        'perimeter',
        `read at 100/s: ${which}, ${LABELS[layer]}`,
        'ms',
        seen[layer][which],
      );
  }
  collect.add('perimeter', RATIO.slowest, '', ratios(seen.whole.p99, seen.bare.p99));
};

/** Tidying up after so many creates is their cost, not that of the reads that follow. */
async function tidied(databaseUrl: string): Promise<void> {
  const database = new pg.Client(databaseUrl);
  await database.connect();
  try {
    await database.query('VACUUM (ANALYZE)');
    await database.query('CHECKPOINT');
  } finally {
    await database.end();
  }
}

/** Requests a second, and what each cost the processes that answer, in milliseconds of CPU. */
async function measured(
  stack: Pick<BenchStack, 'cpu'>,
  target: Target,
  count: number,
): Promise<readonly (readonly [string, number])[]> {
  const before = stack.cpu(PART_NAMES);
  const perSecond = await throughputOf(target, count);
  const used = cpuBetween(before, stack.cpu(PART_NAMES));
  return [
    ['/s', perSecond],
    ...PART_NAMES.map((part) => [part, (used[part] ?? 0) / count] as const),
  ];
}

function add(figures: Map<string, number[]>, name: string, value: number): void {
  figures.set(name, [...(figures.get(name) ?? []), value]);
}
