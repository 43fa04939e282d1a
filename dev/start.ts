/** `npm start`: runs the whole stack with the service until Ctrl-C. */
import { join } from 'node:path';
import { loadStarterTemplates } from './demo-api.ts';
import { takeSignals } from './stack/foreground.ts';
import { consoleLines, offerConsole, type OfferedConsole } from './stack/console.ts';
import { hadBridges } from './stack/known-bridges.ts';
import { hadPerp } from './stack/perp.ts';
import { type DevSettings, readDevSettings } from './stack/ports.ts';
import {
  type Stack,
  StackAlreadyRunning,
  type StackUrls,
  shortPath,
  startStack,
} from './stack/stack.ts';
import { answeredByUsage } from './usage.ts';

const HELP = [
  'Starts Postgres, Temporal, a local chain, a paper venue and the service, loads the starter templates, and runs',
  'until Ctrl-C. Movements under way continue at the next start.',
  '',
  '  --bridges  adds a second chain, the attester and the deliverer of the bridges between the chains, and a template that',
  '             crosses them; every later start in this data folder has them too',
  '  --perp     adds a perps venue; every later start in this data folder has it too',
];
const OPTIONS: readonly string[] = ['--bridges', '--perp'];

let stack: Stack | null = null;
const foreground = takeSignals(() => stack?.hurry());
process.exitCode = await main();
// Exits even if a timer is still set, so that the terminal is free.
process.exit();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const others = args.filter((arg) => !OPTIONS.includes(arg));
  const answered = answeredByUsage(others, 'npm start [-- --bridges] [--perp]', HELP);
  if (answered !== null) return answered;
  try {
    const settings = readDevSettings();
    process.stderr.write(`Starting the stack in ${shortPath(settings.dataDir)}\n`);
    const bridges = args.includes('--bridges') || hadBridges(settings.dataDir);
    const perp = args.includes('--perp') || hadPerp(settings.dataDir);
    const { signal } = foreground;
    stack = await startStack({ settings, bridges, perp, restart: true, signal });
    const templates = await loadStarterTemplates(stack);
    const isServed = process.env.SVC_CONSOLE_ENABLED !== 'false';
    const offered = isServed ? await offerConsole({ ...stack, dataDir: settings.dataDir }) : null;
    printWelcome(settings, stack, { templates, offered });
    await foreground.stopped;
    process.stderr.write('\nStopping …\n');
    await offered?.stop();
    await stack.stop();
    process.stderr.write('Stopped.\n');
    return 0; // a signal is the usual way to end this command, not a failure
  } catch (error) {
    if (foreground.status !== null) {
      process.stderr.write('\nStopped.\n');
      return foreground.status;
    }
    if (error instanceof StackAlreadyRunning && error.urls !== null) {
      process.stdout.write(
        `A stack runs already (process ${error.supervisor.pid}).\n\n${addresses(error.urls)}\n`,
      );
      return 0;
    }
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function printWelcome(
  { dataDir }: DevSettings,
  { apiUrl, opsUrl, uiUrl, chain, bridges, perp, ...rest }: Stack,
  {
    templates,
    offered,
  }: {
    readonly templates: readonly { readonly template_key: string }[];
    readonly offered: OfferedConsole | null;
  },
): void {
  const urls: StackUrls = { ...rest, apiUrl, opsUrl, uiUrl, chainUrl: chain.rpcUrl };
  process.stdout.write(
    [
      '',
      'The service runs.',
      '',
      addresses(urls),
      ...(bridges === null ? [] : [`Far chain:         ${bridges.far.rpcUrl}`]),
      ...(perp === null ? [] : [`Perps venue:       ${perp.url}`]),
      '',
      ...(offered === null ? [] : consoleLines(offered)),
      'A first movement:  npm run demo   (in another terminal; or by hand, see docs/start.md)',
      ...(bridges === null ? [] : ['Over the bridges:  npm run demo -- --bridges']),
      `Templates:         ${templates.map(({ template_key }) => template_key).join(', ')}`,
      `Logs:              ${shortPath(join(dataDir, 'logs'))}`,
      `Client settings:   ${shortPath(join(dataDir, 'clients'))}`,
      'Stop with Ctrl-C; movements under way continue at the next start.',
      '',
    ].join('\n'),
  );
}

function addresses(urls: StackUrls): string {
  return [
    `API:               ${urls.apiUrl}`,
    `API documentation: ${urls.opsUrl}/docs`,
    `Readiness:         ${urls.opsUrl}/readyz`,
    `Temporal UI:       ${urls.uiUrl ?? '(of your own Temporal server)'}`,
    `Local chain:       ${urls.chainUrl}`,
    `Paper venue:       ${urls.paperVenueUrl}`,
  ].join('\n');
}
