/**
 * `npm run demo`: one movement from a template to COMPLETED, on the running stack or on one of its
 * own. Ends with one JSON line on standard output; exit status 0 only for COMPLETED.
 */
import { createHash } from 'node:crypto';
import { createPublicClient, erc20Abi, formatUnits, http } from 'viem';
import { takeSignals } from './stack/foreground.ts';
import { drawGraph } from './draw-graph.ts';
import { DemoApi, loadStarterTemplates, type Movement } from './demo-api.ts';
import { demoMovement, say, Story } from './demo-story.ts';
import { readDevKeys, type DevKeys } from './stack/keys.ts';
import { readChainInfo, type ChainInfo } from './stack/chain.ts';
import { readDevSettings, type DevSettings } from './stack/ports.ts';
import { findRunningStack, startStack, type Stack, type StackUrls } from './stack/stack.ts';
import { storm } from './storm.ts';
import { answeredByUsage } from './usage.ts';

/** A movement of the demo takes seconds; somebody who waits longer wants to know why. */
const PATIENCE_MS = 120_000;
/** One request a second is what an operator's key may make. */
const POLL_MS = 1_200;

const HELP = [
  'Moves 250.5 USDC from the paper venue to the treasury, on the stack that runs in this folder or on one of its own, and',
  'tells what happens. Standard output ends with one line of JSON; the exit status is 0 when the movement has completed.',
  '',
  '  --storm  on a stack of its own, while the worker is killed in the middle of both sends, the venue loses its answer and',
  '           Temporal goes away; the exit status is 0 when everything was paid exactly once',
];

let stack: Stack | null = null;
const foreground = takeSignals(() => stack?.hurry());
process.exitCode = await main();
process.exit();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const stormy = args.includes('--storm');
  const others = args.filter((arg) => arg !== '--storm');
  const answered = answeredByUsage(others, 'npm run demo [-- --storm]', HELP);
  if (answered !== null) return answered;
  if (stormy) return underStorm();
  const settings = readDevSettings();
  try {
    const urls = await findOrStart(settings);
    return await Promise.race([
      demonstrate(urls, readChainInfo(settings.dataDir), readDevKeys(settings.dataDir)),
      foreground.stopped.then(() => foreground.status ?? 1),
    ]);
  } catch (error) {
    say(`\n${error instanceof Error ? error.message : String(error)}`);
    return foreground.status ?? 1;
  } finally {
    if (stack !== null) say('Stopping the stack …');
    await stack?.stop();
  }
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

async function findOrStart(settings: DevSettings): Promise<StackUrls> {
  const running = findRunningStack(settings.dataDir);
  if (running?.urls != null) {
    say('Using the stack that runs already.');
    return running.urls;
  }
  say('No stack runs; starting one for the demo.');
  stack = await startStack({ settings, restart: true, signal: foreground.signal });
  // The stack's own record of where everything is, as another process would read it.
  return { ...stack, chainUrl: stack.chain.rpcUrl };
}

async function demonstrate(urls: StackUrls, chain: ChainInfo, keys: DevKeys): Promise<number> {
  const api = new DemoApi(`${urls.apiUrl}/v3`, keys);
  const [template] = await loadStarterTemplates({ ...urls, chain, keys });
  if (template === undefined) throw new Error('there is no starter template');
  say(`\nTemplate   ${template.template_key} v${template.version}: ${template.name}`);

  const before = await balances(urls, chain);
  const created = await api.createMovement(demoMovement(template, chain));
  say(
    `Movement   ${created.movement_id}: ${created.request_state}, waits for approval until ${created.expires_at}`,
  );
  await showPlan(api, created);
  const started = Date.now();
  await api.approve(created.movement_id, {
    compiled_plan_hash: created.compiled_plan_hash,
    approver_id: 'demo-operator',
  });
  say('Approved   by demo-operator, bound to that hash\n\nTimeline');
  const story = new Story(api, created, { patienceMs: PATIENCE_MS, everyMs: POLL_MS });
  const movement = await story.end();
  const seconds = (Date.now() - started) / 1000;
  say('\nGraph');
  for (const line of drawGraph(await api.graph(movement.movement_id))) say(`  ${line}`);
  say(`\nTemporal UI  ${movement.workflow.ui_url}`);
  const after = await balances(urls, chain);
  say('\nBalances (USDC)            before          after');
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
 * What an approver looks at: the plan that the hash is of, what it can move at most, and where each
 * node pays.
 */
async function showPlan(
  api: DemoApi,
  { movement_id, compiled_plan_hash }: Movement,
): Promise<void> {
  const hashed = createHash('sha256')
    .update(await api.plan(movement_id))
    .digest('hex');
  if (hashed !== compiled_plan_hash)
    throw new Error(
      `The plan's SHA-256 is ${hashed}, and not the hash ${compiled_plan_hash} that would be approved.`,
    );
  say(`Plan hash  ${hashed}, the SHA-256 of GET …/movements/${movement_id}/plan`);
  const { outflow, nodes } = await api.movement(movement_id);
  say(
    `Outflow    at most ${outflow.map(({ asset, amount }) => `${amount ?? 'an unknown amount of'} ${asset}`).join(', ') || 'nothing'}`,
  );
  for (const { node_key, amount, asset, destination } of nodes)
    if (destination !== null)
      say(
        `  ${node_key.padEnd(8)} ${amount === null ? `the ${asset ?? 'amount'} that arrived` : `${amount} ${asset ?? ''}`} to ${destination}`,
      );
}

/** Balances in USDC, straight from the chain and from the venue's own books. */
async function balances(urls: StackUrls, chain: ChainInfo): Promise<Record<string, string>> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const { address, decimals } = chain.tokens.USDC;
  const onChain = async (owner: `0x${string}`): Promise<string> =>
    formatUnits(
      await client.readContract({
        address,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [owner],
      }),
      decimals,
    );
  const answer = await fetch(`${urls.paperVenueUrl}/accounts/paper-main/balances`);
  const body = (await answer.json()) as {
    balances: { account_type: string; asset: string; available: string }[];
  };
  const venue = body.balances.find(
    (balance) => balance.asset === 'USDC' && balance.account_type === 'SPOT',
  );
  return {
    'paper-main (venue)': venue?.available ?? 'unknown',
    'wallet (chain)': await onChain(chain.accounts.signer.address),
    'treasury (chain)': await onChain(chain.accounts.treasury.address),
  };
}
