/** Figures as they are collected, and the tables they end in. */
import Table from 'cli-table3';
import { goalRows, type GoalRow } from './goals.ts';
import type { Figure } from './figure.ts';
import { spread } from './stats.ts';

export interface Report {
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
  readonly goals: readonly GoalRow[];
}

/** Collects figures; progress goes to standard error as it comes. */
export class Collector {
  readonly #figures: Figure[] = [];
  readonly #notes: string[] = [];

  add(section: string, name: string, unit: string, rounds: readonly number[]): void {
    const figure = { section, name, unit, rounds, ...spread(rounds) };
    this.#figures.push(figure);
    process.stderr.write(`  ${name}: ${shown(figure)}\n`);
  }

  note(text: string): void {
    this.#notes.push(text);
    process.stderr.write(`  ${text}\n`);
  }

  report(): Report {
    return { figures: this.#figures, notes: this.#notes, goals: goalRows(this.#figures) };
  }
}

/** The report for people. */
export function render({ figures, notes, goals }: Report): string {
  const all = table(['section', 'figure', 'unit', 'min', 'median', 'max']);
  for (const { section, name, unit, min, median, max } of figures) {
    all.push([section, name, unit, ...[min, median, max].map(number)]);
  }
  const judged = table(['goal', 'wanted', 'median', 'min', 'max', '']);
  for (const goal of goals)
    judged.push([
      goal.goal,
      goal.wanted,
      ...[goal.median, goal.min, goal.max].map(number),
      verdict(goal),
    ]);
  return [all.toString(), ...notes.map((note) => `- ${note}`), judged.toString()].join('\n');
}

function verdict({ reached, median }: GoalRow): string {
  if (reached === null) return median === null ? 'not measured' : 'too few rounds';
  return reached ? 'reached' : 'not reached';
}

/** An empty table with these heads. */
export function table(head: string[]): Table.Table {
  return new Table({ head, style: { head: [], border: [], compact: true } });
}

function shown({ min, median, max, unit }: Figure): string {
  return `${number(median)} (${number(min)} … ${number(max)})${unit === '' ? '' : ` ${unit}`}`;
}

/** Three significant digits, or all before the point; nothing for null. */
export function number(value: number | null): string {
  if (value === null) return '';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
