/** A run can be repeated: what is left to chance follows from the seed alone. */
import { dice } from './random.ts';
import { planStrikes, VICTIMS } from './schedule.ts';
import { writeScripts } from './scripts.ts';

const plain = {
  weight: 1,
  gated: false,
  cancellable: false,
  configured: false,
  payee: 0,
  body: { nodes: [], edges: [] },
};
const mix = [
  { ...plain, key: 'plain', weight: 3 },
  { ...plain, key: 'gated', gated: true },
  { ...plain, key: 'cancellable', cancellable: true },
  { ...plain, key: 'configured', configured: true, payee: 0.5 },
];

test('the same seed brings the same strikes and scripts, another seed others', () => {
  const strikes = (seed: number) => planStrikes(dice(seed, 'strikes'), 100);
  const scripts = (seed: number) => writeScripts(dice(seed, 'scripts'), 200, mix);
  expect(strikes(1)).toEqual(strikes(1));
  expect(scripts(1)).toEqual(scripts(1));
  expect(strikes(2)).not.toEqual(strikes(1));
  expect(scripts(2)).not.toEqual(scripts(1));
});

test('at least as many kills as requested, of every part, sometimes of two at once and never of one twice', () => {
  const strikes = planStrikes(dice(3, 'strikes'), 100);
  const victims = strikes.flatMap((strike) => strike.victims);
  expect(victims.length).toBeGreaterThanOrEqual(100);
  expect([...new Set(victims)].sort()).toEqual([...VICTIMS].sort());
  expect(strikes.some((strike) => strike.victims.length === 2)).toBe(true);
  expect(strikes.every((strike) => new Set(strike.victims).size === strike.victims.length)).toBe(
    true,
  );
});

test('scripts of a later round continue the serials, and share no amount with those before', () => {
  const before = writeScripts(dice(4, 'scripts 0'), 100, mix);
  const after = writeScripts(dice(4, 'scripts 1'), 100, mix, 100);
  expect(after.map(({ serial }) => serial)).toEqual(before.map(({ serial }) => serial + 100));
  const amounts = [...before, ...after].map(({ amount }) => amount);
  expect(new Set(amounts).size).toBe(200);
});

test('no two movements share an amount, and only what can be cancelled or resumed is', () => {
  const scripts = writeScripts(dice(4, 'scripts'), 200, mix);
  const configured = scripts
    .filter(({ template }) => template === 'configured')
    .map(({ node_config }) => node_config);
  const amounts = [
    ...scripts.map(({ amount }) => amount),
    ...configured.map((each) => each?.['amount']),
  ];
  expect(new Set(amounts).size).toBe(200 + configured.length);
  expect(new Set(configured.map((each) => each?.['payee'])).size).toBe(2);
  expect(
    scripts.every(
      ({ template, node_config }) => (node_config === null) === (template !== 'configured'),
    ),
  ).toBe(true);
  expect(scripts.every(({ amount }) => /^1\d\.\d{5}1$/.test(amount))).toBe(true);
  expect(
    scripts
      .filter(({ cancel_ms }) => cancel_ms !== null)
      .every(({ template }) => template === 'cancellable'),
  ).toBe(true);
  expect(
    scripts
      .filter(({ resume_ms }) => resume_ms !== null)
      .every(({ template }) => template === 'gated'),
  ).toBe(true);
});
