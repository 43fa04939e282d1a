/** What `npm run bench:scale` measures: points, the rows that they are compared in, their order. */

/** One arrangement of the deployment. */
export interface Point {
  readonly workers: number;
  readonly apis: number;
  /** Other movements that wait for their approval meanwhile, with open runs. */
  readonly open: number;
  /** Pools that the movements draw from in turn. */
  readonly pools: number;
  /** Milliseconds that a round trip to Postgres takes longer; null: without the delaying proxy. */
  readonly networkMs: number | null;
  /** Activity slots of a worker before executors that take 500 ms; null: instant executors. */
  readonly slots: number | null;
}

export const ROW_NAMES = ['workers', 'apis', 'open', 'pools', 'network', 'slots'] as const;
export type RowName = (typeof ROW_NAMES)[number];

/** The points of each row. All are compared with the first. */
export type Rows = Readonly<Record<RowName, readonly Point[]>>;

/** How large the points are. */
export interface Size {
  readonly workers: readonly number[];
  readonly apis: readonly number[];
  readonly open: readonly number[];
  readonly pools: readonly number[];
  readonly networkMs: readonly number[];
  readonly slots: number;
}

export const FULL: Size = {
  workers: [1, 2, 4],
  apis: [1, 2],
  open: [1_000, 5_000, 20_000, 50_000],
  pools: [16, 1],
  networkMs: [0, 1, 5, 20],
  slots: 20,
};

/** Enough to see that everything works, too little to judge by. */
export const SHORT: Size = {
  workers: [1, 2],
  apis: [1, 2],
  open: [20, 60],
  pools: [4, 1],
  networkMs: [0, 5],
  slots: 5,
};

/** Returns the rows. Each varies one thing, but `apis`: all workers with each number of APIs. */
export function rowsOf(size: Size): Rows {
  const base: Point = {
    workers: size.workers[0] ?? 1,
    apis: size.apis[0] ?? 1,
    open: size.open[0] ?? 0,
    pools: size.pools[0] ?? 1,
    networkMs: null,
    slots: null,
  };
  return {
    workers: size.workers.map((workers) => ({ ...base, workers })),
    apis: size.apis.flatMap((apis) => size.workers.map((workers) => ({ ...base, apis, workers }))),
    open: size.open.map((open) => ({ ...base, open })),
    pools: size.pools.map((pools) => ({ ...base, pools })),
    network: size.networkMs.map((networkMs) => ({ ...base, networkMs })),
    slots: size.workers.slice(0, 2).map((workers) => ({ ...base, workers, slots: size.slots })),
  };
}

/** Returns the name of a point in reports: two points are the same if their names are. */
export function nameOf({ workers, apis, open, pools, networkMs, slots }: Point): string {
  const counted = (count: number, thing: string): string =>
    `${String(count)} ${thing}${count === 1 ? '' : 's'}`;
  return [
    counted(workers, 'worker'),
    counted(apis, 'API'),
    `${String(open)} open`,
    counted(pools, 'pool'),
    ...(networkMs === null ? [] : [`${String(networkMs)} ms`]),
    ...(slots === null ? [] : [`${String(slots)} slots`]),
  ].join(', ');
}

/** Returns the points of these rows, each once. */
export function pointsOf(rows: Rows, names: readonly RowName[]): readonly Point[] {
  const points = names.flatMap((name) =>
    rows[name].map((point) => [nameOf(point), point] as const),
  );
  return [...new Map(points).values()];
}

/**
 * Returns the order of the points in a round (0, 1, …): by how many movements are open, rising and
 * falling in turns, since making and ending them takes longer than anything else; those of one
 * level in random order, so that a machine that is busy for a while hits all alike. `random`
 * returns numbers from 0 to below 1.
 */
export function orderOf(
  points: readonly Point[],
  round: number,
  random: () => number,
): readonly Point[] {
  const sign = round % 2 === 0 ? 1 : -1;
  return points
    .map((point) => ({ point, place: random() }))
    .sort((a, b) => sign * (a.point.open - b.point.open) || a.place - b.place)
    .map(({ point }) => point);
}
