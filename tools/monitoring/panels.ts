/** What a dashboard is made of, before it becomes Grafana's JSON, and the queries used most. */

/**
 * What must be there before a query returns a series. `always`: any deployment after its first
 * movement. `chain`, `exchange`, `remote-executor`: one of these is in use. `postgres-standby`:
 * Postgres replicates. `versioned`: workers have a build id. `server`: Prometheus scrapes
 * Temporal's server too. `tls`: Temporal is reached with certificates. `database-tls`: so is the
 * database. `event`: what the metric counts has happened since the process started.
 */
export type Need =
  | 'always'
  | 'chain'
  | 'database-tls'
  | 'event'
  | 'exchange'
  | 'postgres-standby'
  | 'remote-executor'
  | 'server'
  | 'tls'
  | 'versioned';

export type Unit = 'bytes' | 'count' | 'days' | 'per-second' | 'seconds' | 'share';

export interface Query {
  readonly expr: string;
  /** Name of a line, with labels as `{{state}}`. */
  readonly legend: string;
  /** The query returns a series only where all of these hold. */
  readonly needs: readonly Need[];
}

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  /** What a rising line means, for money first. */
  readonly rising: string;
  /** The alert of deploy/monitoring/alerts that watches this figure. */
  readonly alert?: string;
  readonly queries: readonly Query[];
}

export interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** File name without `.json`. */
  readonly name: string;
  readonly title: string;
  readonly sections: readonly Section[];
}

/** Returns a query. With no `needs` it returns a series in any deployment. */
export function query(expr: string, legend: string, ...needs: readonly Need[]): Query {
  return { expr, legend, needs: needs.length === 0 ? ['always'] : needs };
}

/** Range of every rate: four scrapes at the usual interval of a minute, and one to spare. */
const RANGE = '5m';

/** Returns the PromQL of a counter's growth in a second, added up over processes. */
export function perSecond(counter: string, ...by: readonly string[]): string {
  const labels = by.length === 0 ? '' : ` by (${by.join(', ')}) `;
  return `sum${labels}(rate(${counter}[${RANGE}]))`;
}

/**
 * Returns the PromQL of a quantile over all processes. `buckets`: the `_bucket` series, with
 * matchers where needed.
 */
export function quantile(q: string, buckets: string, ...by: readonly string[]): string {
  const labels = ['le', ...by].join(', ');
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${buckets}[${RANGE}])))`;
}

/** Returns the PromQL of a figure of the database, which every process serves alike. */
export function shared(gauge: string, ...by: readonly string[]): string {
  return by.length === 0 ? `max(${gauge})` : `max by (${by.join(', ')}) (${gauge})`;
}
