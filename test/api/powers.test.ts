/** Each route and each command of `fundadmin` declares what it can do to where money may go. */
import { Command } from 'commander';
import { commercial } from '../../api/commercial.ts';
import { DESCRIBED } from '../../api/dashboard/routes.ts';
import { withExtensions } from '../../api/extension.ts';
import { TOOLS } from '../../clients/mcp/tools/index.ts';
import type { Power } from '../../domain/approval/power.ts';
import { command, leavesOf, mustNameWho, powerOf } from '../../tools/command.ts';
import { fundadminProgram } from '../../tools/command-line.ts';
import { routes as base } from '../../venues/routes.ts';
import { POWERS } from '../support/power-map.ts';

const routes = [
  ...withExtensions(base, [commercial({ autoApproveDryRun: false })]),
  ...DESCRIBED.map(({ route }) => route),
];
const wordsOf = (power: Power): string =>
  typeof power === 'string' ? power : Object.entries(power).flat().join(' ');

describe('routes', () => {
  test('have the power that the map says', () => {
    const found = routes
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path, power }) => [`${method} ${path}`, wordsOf(power)]);
    expect(Object.fromEntries(found)).toEqual(POWERS);
  });

  test('that are GETs read', () => {
    const reads = routes.filter(({ method }) => method === 'GET');
    expect(reads.length).toBeGreaterThan(20);
    expect(reads.filter(({ power }) => power !== 'reads').map(({ id }) => id)).toEqual([]);
  });

  test('that an agent may call widen at most by a proposal within its limits', () => {
    const agents = routes.filter(({ roles }) => roles.includes('agent'));
    expect(agents.length).toBeGreaterThan(10);
    expect(agents.filter(({ power }) => typeof power !== 'string').map(({ id }) => id)).toEqual([
      'createTemplateProposal',
      'createBridgeAttempt',
    ]);
  });
});

describe('commands of fundadmin', () => {
  const silent = (): void => undefined;
  const leaves = [...leavesOf(fundadminProgram({ env: {}, out: silent, err: silent }))];
  const powers = leaves.map(([name, leaf]) => {
    const power = powerOf(leaf);
    return [name, power === undefined ? 'none' : wordsOf(power)] as const;
  });

  test('all have a power', () => {
    expect(powers.length).toBeGreaterThan(30);
    expect(powers.filter(([, words]) => words === 'none')).toEqual([]);
  });

  test('that move or widen are these', () => {
    expect(Object.fromEntries(powers.filter(([, words]) => /^(moves|widens)/.test(words)))).toEqual(
      {
        'allowlist add': 'widens allowlist',
        'allowlist reactivate': 'widens allowlist',
        'allowlist set-chain': 'widens allowlist',
        'people set': 'widens approval_rules',
        'people remove': 'widens approval_rules',
        'approver-groups set': 'widens approval_rules',
        'approver-groups remove': 'widens approval_rules',
        'approval-rules set': 'widens approval_rules',
        'approval-rules remove': 'widens approval_rules',
        'bridge add-chain': 'widens bridge',
        'bridge replace-chain': 'widens bridge',
        'bridge add-baseline': 'widens bridge',
        'bridge replace-baseline': 'widens bridge',
        'bridge drill-pass': 'widens bridge',
        'dashboard enrol': 'widens keys',
        'dashboard confirm': 'widens keys',
        'keys issue': 'widens keys',
        'movements rebuild': 'moves',
        'runs promote': 'moves',
        'runs drain': 'moves',
        'passkeys confirm': 'widens keys',
      },
    );
  });

  test('name who acts if they write, except what keeps the installation running', () => {
    const nameless = leaves.filter(([, leaf]) => powerOf(leaf) !== 'reads' && !mustNameWho(leaf));
    expect(nameless.map(([name]) => name).sort()).toEqual([
      'counts rebuild',
      'database grant',
      'database migrate',
      'movements rebuild',
      'runs drain',
      'runs promote',
      'temporal search-attributes',
    ]);
    const named = leaves.filter(([, leaf]) => mustNameWho(leaf));
    expect(named.every(([, leaf]) => leaf.options.some(({ long }) => long === '--as'))).toBe(true);
    expect(named.filter(([, leaf]) => powerOf(leaf) === 'reads')).toEqual([]);
  });

  test('are found below every group, with or without a power', () => {
    const program = new Command('program');
    const group = program.command('group');
    command(group, 'made <file>', 'reads');
    group.command('forgotten');
    command(program, 'alone', { widens: 'keys' });
    expect([...leavesOf(program)].map(([name, leaf]) => [name, powerOf(leaf)])).toEqual([
      ['group made', 'reads'],
      ['group forgotten', undefined],
      ['alone', { widens: 'keys' }],
    ]);
  });
});

test('the one tool that writes is the proposal', () => {
  expect(TOOLS.filter(({ power }) => power !== 'reads').map(({ name }) => name)).toEqual([
    'propose_template',
  ]);
  for (const { power, effects } of TOOLS) expect(effects.readOnlyHint).toBe(power === 'reads');
});
