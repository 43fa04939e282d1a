/**
 * `npm run demo`: runs one movement from a template to COMPLETED, on the running stack or on a
 * temporary one. Ends with one JSON line on standard output; exit status 0 only for COMPLETED.
 */
import { consoleLines, consoleUrl, offerConsole } from './stack/console.ts';
import { takeSignals } from './stack/foreground.ts';
import { drawGraph } from '../clients/command-line/graph.ts';
import { planHash, type FundClient, type ResultOf } from '../clients/http/index.ts';
import { loadStarterTemplates, operatorOf } from './demo-api.ts';
import { crossing, MOVED, withdrawal, type Scene } from './demo-scenes.ts';
import { say, Story } from './demo-story.ts';
import type { StackBridges } from './stack/bridges.ts';
import { hadBridges, readBridges, runsBridges } from './stack/known-bridges.ts';
import { hadPerp } from './stack/perp.ts';
import { readDevKeys, type DevKeys } from './stack/keys.ts';
import { readChainInfo, type ChainInfo } from './stack/chain.ts';
import { readDevSettings, type DevSettings } from './stack/ports.ts';
import { findRunningStack, startStack, type Stack, type StackUrls } from './stack/stack.ts';
import { storm } from './storm.ts';
import { answeredByUsage } from './usage.ts';

/** The demo's movement takes seconds; after this time the demo fails and reports why. */
const PATIENCE_MS = 120_000;
/** Time between reads: an operator's key may send one request a second. */
const POLL_MS = 1_200;

const HELP = [
  `Moves ${MOVED.withdrawal} from the paper venue to the treasury and prints the timeline, on the stack that runs in this data`,
  'folder, or on one that it starts. Standard output ends with one line of JSON; exit status 0: the movement completed.',
  'At a terminal a stack that it started runs until Ctrl-C, with a link that enrols a first operator of the console.',
  '',
  `  --bridges  moves ${MOVED.crossing} from one local chain to another instead: burnt here, minted there; a stack that`,
  '             it starts has the second chain and the bridges',
  '  --storm    on a stack of its own: kills the worker in the middle of both sends, loses the answer of the venue, and',
  '             stops Temporal; exit status 0: everything was paid exactly once',
];

let stack: Stack | null = null;
const foreground = takeSignals(() => stack?.hurry());
process.exitCode = await main();
process.exit();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const stormy = args.includes('--storm');
  const bridged = !stormy && args.includes('--bridges');
  const others = args.filter((arg) => arg !== '--storm' && !(bridged && arg === '--bridges'));
  const answered = answeredByUsage(others, 'npm run demo [-- --bridges|--storm]', HELP);
  if (answered !== null) return answered;
  if (stormy) return underStorm();
  const settings = readDevSettings();
  try {
    const urls = await findOrStart(settings, bridged);
    const bridges = bridged ? readBridges(settings.dataDir) : null;
    const [chain, keys] = [readChainInfo(settings.dataDir), readDevKeys(settings.dataDir)];
    const status = await Promise.race([
      demonstrate({ urls, chain, keys, bridges }),
      foreground.stopped.then(() => foreground.status ?? 1),
    ]);
    if (stack !== null && foreground.status === null) await stay(stack, settings);
    return status;
  } catch (error) {
    say(`\n${error instanceof Error ? error.message : String(error)}`);
    return foreground.status ?? 1;
  } finally {
    if (stack !== null) say('Stopping the stack …');
    await stack?.stop();
  }
}

/**
 * At a terminal, keeps the demo's own stack until Ctrl-C, so that a person can open it in the
 * console; otherwise the printed link would lead to a stopped stack.
 */
async function stay(own: Stack, { dataDir }: DevSettings): Promise<void> {
  const isSeen = process.stdin.isTTY && process.stdout.isTTY;
  if (!isSeen || process.env.SVC_CONSOLE_ENABLED === 'false') return;
  const offered = await offerConsole({ ...own, dataDir });
  for (const line of consoleLines(offered)) say(line);
  say('The stack stays until Ctrl-C.');
  await foreground.stopped;
  await offered.stop();
}

async function underStorm(): Promise<number> {
  try {
    return await storm(foreground.signal, (its) => {
      stack = its;
    });
  } catch (error) {
    say(`\n${error instanceof Error ? error.message : String(error)}`);
    return foreground.status ?? 1;
  }
}

async function findOrStart(settings: DevSettings, bridged: boolean): Promise<StackUrls> {
  const running = findRunningStack(settings.dataDir);
  if (running?.urls != null) {
    if (bridged && !runsBridges(running))
      throw new Error(
        'The stack that runs already has no bridges. Stop it with Ctrl-C; `npm start -- --bridges` starts it with them.',
      );
    say('Using the stack that runs already.');
    return running.urls;
  }
  say('No stack runs; starting one for the demo.');
  const bridges = bridged || hadBridges(settings.dataDir);
  const perp = hadPerp(settings.dataDir);
  const { signal } = foreground;
  stack = await startStack({ settings, bridges, perp, restart: true, signal });
  // The same URLs as in the stack's record, which another process would read.
  return { ...stack, chainUrl: stack.chain.rpcUrl };
}

async function demonstrate({
  urls,
  chain,
  keys,
  bridges,
}: {
  readonly urls: StackUrls;
  readonly chain: ChainInfo;
  readonly keys: DevKeys;
  readonly bridges: StackBridges | null;
}): Promise<number> {
  const api = operatorOf(urls.apiUrl, keys);
  const scene: Scene =
    bridges === null ? withdrawal(chain, urls.paperVenueUrl) : crossing(chain, bridges);
  const templates = await loadStarterTemplates({ ...urls, chain, keys, bridges });
  const template = templates.find(({ template_key }) => template_key === scene.template_key);
  if (template === undefined) throw new Error('there is no starter template');
  say(`\nTemplate   ${template.template_key} v${template.version}: ${template.name}`);

  const before = await scene.balances();
  const created = await api.movements.create(scene.movement(template));
  say(
    `Movement   ${created.movement_id}: ${created.request_state}, waits for approval until ${created.expires_at}`,
  );
  await showPlan(api, created);
  const started = Date.now();
  await api.movements.approve(created.movement_id, {
    compiled_plan_hash: created.compiled_plan_hash,
    approver_id: 'demo-operator',
  });
  say('Approved   by demo-operator, bound to that hash\n\nTimeline');
  const story = new Story(api, created, { patienceMs: PATIENCE_MS, everyMs: POLL_MS });
  const movement = await story.end();
  const seconds = (Date.now() - started) / 1000;
  say('\nGraph');
  for (const line of drawGraph(await api.movements.graph(movement.movement_id))) say(`  ${line}`);
  say(`\nTemporal UI  ${movement.workflow.ui_url}`);
  // `npm start` has already printed the enrolment link of a running stack.
  say(`Console      ${consoleUrl(urls.apiUrl)}`);
  const after = await scene.balances();
  say(`\nBalances (${scene.asset})            before          after`);
  for (const [name, value] of Object.entries(before))
    say(`  ${name.padEnd(20)} ${value.padStart(12)}   ${(after[name] ?? '').padStart(12)}`);
  say(
    `\n${movement.request_state} after ${seconds.toFixed(1)} s${movement.error_code === null ? '' : ` (${movement.error_code})`}\n`,
  );
  process.stdout.write(
    `${JSON.stringify({
      movement_id: movement.movement_id,
      request_state: movement.request_state,
      compiled_plan_hash: created.compiled_plan_hash,
      outflow: movement.outflow,
      seconds: Number(seconds.toFixed(2)),
      transactions: movement.nodes.map((node) => ({
        node_key: node.node_key,
        tx_hash: node.output?.['tx_hash'] ?? null,
      })),
      balances: { before, after },
    })}\n`,
  );
  return movement.request_state === 'COMPLETED' ? 0 : 1;
}

/**
 * Prints what an approver checks: the plan that has the hash, the most that it can move, and each
 * plan node's payee.
 */
async function showPlan(
  api: FundClient,
  { movement_id, compiled_plan_hash }: ResultOf<'createMovement'>,
): Promise<void> {
  const hashed = await planHash(await api.movements.plan(movement_id));
  if (hashed !== compiled_plan_hash)
    throw new Error(
      `The plan's SHA-256 is ${hashed}, and not the hash ${compiled_plan_hash} that would be approved.`,
    );
  say(`Plan hash  ${hashed}, the SHA-256 of GET …/movements/${movement_id}/plan`);
  const { outflow, nodes } = await api.movements.get(movement_id);
  say(
    `Outflow    at most ${outflow.map(({ asset, amount }) => `${amount ?? 'an unknown amount of'} ${asset}`).join(', ') || 'nothing'}`,
  );
  for (const { node_key, amount, asset, destination } of nodes)
    if (destination !== null)
      say(
        `  ${node_key.padEnd(8)} ${amount === null ? `the ${asset ?? 'amount'} that arrived` : `${amount} ${asset ?? ''}`} to ${destination}`,
      );
}
