/** The tables of a run: each row with its points side by side, and their ratios to its first. */
import { number, table } from '../report.ts';
import { ratios, spread } from '../stats.ts';
import { FIGURE_NAMES, FIGURES, type FigureName, type ScaleResult } from './figures.ts';

/** Figures whose ratios are shown, made within each round. */
const COMPARED: readonly FigureName[] = [
  'perSecond',
  'p50Ms',
  'p99Ms',
  'aloneMs',
  'cpuMs',
  'cpuPostgresMs',
  'walBytes',
  'lockWaitMs',
];

export function renderScale(result: ScaleResult): string {
  const valuesOf = (point: string, figure: FigureName): readonly number[] =>
    result.points.find(({ name }) => name === point)?.rounds.map((each) => each[figure]) ?? [];
  const tables = result.rows.map(({ row, points }) => {
    const [first = ''] = points;
    const all = table([row, 'unit', ...points]);
    for (const figure of FIGURE_NAMES) {
      const { title, unit } = FIGURES[figure];
      all.push([title, unit, ...points.map((point) => shown(valuesOf(point, figure)))]);
    }
    const byHand = points.map((point) => ratios(valuesOf(point, 'perSecond'), result.handWritten));
    all.push(['movements completed / hand-written with care', '', ...byHand.map(shown)]);
    for (const figure of COMPARED) {
      const against = points.map((point) =>
        ratios(valuesOf(point, figure), valuesOf(first, figure)),
      );
      all.push([`${FIGURES[figure].title} / first`, '', ...against.map(shown)]);
    }
    return all.toString();
  });
  return tables.join('\n\n');
}

/** Median, smallest and largest; nothing where a value is missing or was divided by nothing. */
function shown(values: readonly number[]): string {
  if (values.length === 0 || !values.every(Number.isFinite)) return '';
  const { min, median, max } = spread(values);
  return values.length === 1
    ? number(median)
    : `${number(median)} (${number(min)} … ${number(max)})`;
}
