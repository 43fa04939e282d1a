/** Grafana's JSON of a dashboard: each panel gets an id, a place in the grid, its data source. */
import type { Dashboard, Panel, Section, Unit } from './panels.ts';

/** Of Grafana 10.4 and later; newer ones read it and convert it. */
const SCHEMA_VERSION = 39;
/** Joins the dashboards by links in their heads. */
const TAG = 'fund-movements';

/** Grafana's grid has 24 columns; three panels stand in a line. */
const COLUMNS = 24;
const WIDTH = 8;
const HEIGHT = 8;

const GRAFANA_UNIT: Readonly<Record<Unit, string>> = {
  bytes: 'bytes',
  count: 'short',
  days: 'd',
  'per-second': 'cps',
  seconds: 's',
  share: 'percentunit',
};

/** A variable, so that one file serves every installation's Prometheus. */
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

interface GridPosition {
  readonly h: number;
  readonly w: number;
  readonly x: number;
  readonly y: number;
}

interface Placed {
  readonly id: number;
  readonly gridPos: GridPosition;
}

/** The fields that the layout decides on, and Grafana's others. */
export interface GrafanaPanel extends Placed {
  readonly type: 'row' | 'timeseries';
  readonly [field: string]: unknown;
}

export interface GrafanaDashboard {
  readonly uid: string;
  readonly panels: readonly GrafanaPanel[];
  readonly [field: string]: unknown;
}

/** Returns the dashboard as Grafana imports it. */
export function grafanaDashboard(dashboard: Dashboard): GrafanaDashboard {
  return {
    uid: `${TAG}-${dashboard.name}`,
    title: dashboard.title,
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    tags: [TAG],
    timezone: 'utc',
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    editable: true,
    graphTooltip: 1,
    annotations: { list: [] },
    links: [{ title: 'Others', type: 'dashboards', tags: [TAG], asDropdown: true, keepTime: true }],
    templating: { list: [DATASOURCE_VARIABLE] },
    panels: panelsOf(dashboard.sections),
  };
}

const DATASOURCE_VARIABLE = {
  name: 'datasource',
  label: 'Prometheus',
  type: 'datasource',
  query: 'prometheus',
  hide: 0,
  multi: false,
  includeAll: false,
  refresh: 1,
  regex: '',
  current: {},
};

/** Places a heading for each section, and below it its panels from left to right. */
function panelsOf(sections: readonly Section[]): readonly GrafanaPanel[] {
  const panels: GrafanaPanel[] = [];
  let y = 0;
  for (const { title, panels: inside } of sections) {
    panels.push(heading(title, { id: panels.length + 1, gridPos: { h: 1, w: COLUMNS, x: 0, y } }));
    y += 1;
    for (const [index, panel] of inside.entries()) {
      const x = (index * WIDTH) % COLUMNS;
      const line = Math.floor((index * WIDTH) / COLUMNS);
      const gridPos = { h: HEIGHT, w: WIDTH, x, y: y + line * HEIGHT };
      panels.push(timeSeries(panel, { id: panels.length + 1, gridPos }));
    }
    y += Math.ceil((inside.length * WIDTH) / COLUMNS) * HEIGHT;
  }
  return panels;
}

function heading(title: string, placed: Placed): GrafanaPanel {
  return { ...placed, type: 'row', title, collapsed: false, panels: [] };
}

function timeSeries(panel: Panel, placed: Placed): GrafanaPanel {
  return {
    ...placed,
    type: 'timeseries',
    title: panel.title,
    description: descriptionOf(panel),
    datasource: DATASOURCE,
    fieldConfig: {
      // Zero stays in view, so that a small change does not look like a large one.
      defaults: { unit: GRAFANA_UNIT[panel.unit], custom: { axisSoftMin: 0 } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: panel.queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}

/** Returns what a rising line means, the alert, and when the panel may be empty. */
export function descriptionOf({ rising, alert, queries }: Panel): string {
  return [
    rising,
    ...(alert === undefined ? [] : [`Alert: ${alert}.`]),
    ...(queries.every(({ needs }) => needs.includes('event'))
      ? ['Empty until it has happened since the processes started.']
      : []),
  ].join('\n\n');
}
