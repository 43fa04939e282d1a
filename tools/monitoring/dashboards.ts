/** The dashboards of deploy/monitoring/dashboards, which `npm run monitoring:dashboards` writes. */
import { grafanaDashboard } from './layout.ts';
import { money } from './money.ts';
import type { Dashboard, Need } from './panels.ts';
import { processes } from './processes.ts';
import { temporal } from './temporal.ts';

export const DASHBOARDS: readonly Dashboard[] = [money, processes, temporal];

export const DASHBOARDS_FOLDER = 'deploy/monitoring/dashboards';

export interface DashboardFile {
  /** Path from the project's folder. */
  readonly file: string;
  readonly text: string;
}

/** Returns the files as they have to be. */
export function dashboardFiles(): readonly DashboardFile[] {
  return DASHBOARDS.map((dashboard) => ({
    file: `${DASHBOARDS_FOLDER}/${dashboard.name}.json`,
    text: `${JSON.stringify(grafanaDashboard(dashboard), null, 2)}\n`,
  }));
}

export interface PanelQuery {
  readonly dashboard: string;
  readonly panel: string;
  /** PromQL without variables. */
  readonly query: string;
  /** The query returns a series only where all of these hold. */
  readonly needs: readonly Need[];
}

/** Returns each query of each panel; a running deployment must return a series for it. */
export function panelQueries(): readonly PanelQuery[] {
  return DASHBOARDS.flatMap(({ name, sections }) =>
    sections.flatMap(({ panels }) =>
      panels.flatMap(({ title, queries }) =>
        queries.map(({ expr, needs }) => ({ dashboard: name, panel: title, query: expr, needs })),
      ),
    ),
  );
}
