/**
 * What the dearest conditions take here: `node dist/conditions-worst-case.js`, after
 * `npm run build`.
 */
import { conditionProblem } from '../../../domain/conditions/check.ts';
import { planWith } from './build.ts';
import { DEAREST, measure } from './worst-case.ts';

for (const [name, [expression, params]] of Object.entries(DEAREST)) {
  const before = process.cpuUsage();
  const plan = planWith(expression, params);
  conditionProblem(plan.edge, plan);
  const compiled = process.cpuUsage(before).user / 1_000;
  const first = measure(expression, params, 1);
  measure(expression, params, 50);
  const { result, mean } = measure(expression, params, 100);
  const figures = `compile ${compiled.toFixed(1)}  first ${first.mean.toFixed(1)}  then ${mean.toFixed(3)} ms`;
  console.log(name.padEnd(32), figures, expression.length, result);
}
