/** What a run prints about itself. */
import type { Evidence, MovementEvidence } from './evidence.ts';

export interface RunFacts {
  readonly seed: number;
  readonly seconds: number;
  readonly stormSeconds: number;
  readonly kills: ReadonlyMap<string, number>;
  readonly downMs: ReadonlyMap<string, number>;
  readonly failedStarts: readonly string[];
  readonly repeats: ReadonlyMap<string, number>;
  readonly venue: { readonly calls: number; readonly answers_lost: number };
  readonly retried: number;
  /** Movements that waited for a person when everything had come to rest. */
  readonly waited: number;
  /** Looks at what movements held while the storm went on. */
  readonly looks: number;
  readonly templates: readonly string[];
  readonly leftOut: readonly string[];
}

/** The figures as lines of `name  value`. */
export function figures(facts: RunFacts, evidence: Evidence): readonly string[] {
  const { movements, capital, callbacks, received, delivers } = evidence;
  const events = movements.flatMap(({ timeline }) => timeline.map(({ event_type }) => event_type));
  const count = (kind: string): number => events.filter((each) => each === kind).length;
  const kills = [...facts.kills.values()].reduce((sum, each) => sum + each, 0);
  const status = tally(callbacks.map((row) => row.status));
  const lines: (readonly [string, string])[] = [
    ['seed', String(facts.seed)],
    ['movements', `${movements.length} (${tally(movements.map((each) => each.request_state))})`],
    ['templates', facts.templates.join(', ')],
    ...(facts.leftOut.length === 0 ? [] : [['left out', facts.leftOut.join(', ')] as const]),
    ['kills', `${kills} (${shown(facts.kills)})`],
    [
      'down',
      `of ${facts.stormSeconds} s: ${[...facts.downMs].map(([name, ms]) => `${name} ${Math.round(ms / 1_000)} s`).join(', ')}`,
    ],
    ...(facts.failedStarts.length === 0
      ? []
      : [
          [
            'failed starts',
            `${facts.failedStarts.length}: ${facts.failedStarts.join(' | ')}`,
          ] as const,
        ]),
    ['venue', `${facts.venue.answers_lost} of ${facts.venue.calls} answers lost`],
    [
      'recoveries',
      `${count('node_recovered')} node_recovered, ${count('node_unknown')} node_unknown, ${count('node_failed')} node_failed`,
    ],
    ['repeated calls', shown(facts.repeats) || 'none'],
    ['cancels', tally(movements.flatMap(cancelsOf)) || 'none'],
    ['resumes', `${count('request_resumed')}, and ${count('request_retried')} retries`],
    ['retried', `${facts.retried} movements at rest`],
    ['led to the end', `${facts.waited} movements`],
    ['holdings', `looked at ${facts.looks} times during the storm`],
    [
      'desk',
      `${evidence.orders.length} orders, ${evidence.orders.filter(({ withdrawn }) => withdrawn).length} withdrawn`,
    ],
    [
      'budget',
      `${evidence.usage.consumed_amount} consumed by ${evidence.usage.count_in_window} movements`,
    ],
    [
      'callbacks',
      delivers
        ? `${callbacks.length} (${status}), ${received.length} calls received`
        : `${callbacks.length} rows`,
    ],
    [
      'transfers',
      `${capital.length} (${tally(capital.map((each) => each.request_state))}), ${sendsOf(evidence)} sends; ${refusedOf(evidence)} refused`,
    ],
    ['slowest', slowest(movements).join('\n                  ')],
    ['duration', `${facts.seconds} s`],
  ];
  return lines.map(([name, value]) => `  ${name.padEnd(16)}${value}`);
}

function sendsOf({ capital }: Evidence): number {
  return capital.reduce((sum, { record }) => sum + (record?.submit_calls ?? 0), 0);
}

function refusedOf({ capitalLives }: Evidence): number {
  return capitalLives.filter(({ refused }) => refused !== null).length;
}

/** The longest times from approval to the last event, each with its longest pause. */
function slowest(movements: readonly MovementEvidence[]): readonly string[] {
  return movements
    .flatMap(({ movement_id, timeline, request_state }) => {
      // The delivery of callbacks goes on beside the movement.
      const story = timeline.filter(({ event_type }) => !event_type.startsWith('callback_'));
      const at = story.findIndex(({ event_type }) => event_type === 'request_approved');
      const [approved, last] = [story[at], story.at(-1)];
      // A person at a gate takes as long as it pleases.
      const paused = story.some(({ event_type }) => event_type === 'request_attention');
      if (approved === undefined || last === undefined || paused) return [];
      const pauses = story.slice(at + 1).map((event, index) => {
        const before = story[at + index] ?? approved;
        return {
          seconds: between(before.occurred_at, event.occurred_at),
          from: nameOf(before),
          to: nameOf(event),
        };
      });
      const longest = pauses.sort((a, b) => b.seconds - a.seconds)[0];
      return [
        {
          movement_id,
          request_state,
          seconds: between(approved.occurred_at, last.occurred_at),
          longest,
        },
      ];
    })
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 5)
    .map(({ movement_id, request_state, seconds, longest }) => {
      const pause =
        longest === undefined
          ? ''
          : `, ${longest.seconds.toFixed(1)} s of it between ${longest.from} and ${longest.to}`;
      return `${seconds.toFixed(1)} s ${movement_id} ${request_state}${pause}`;
    });
}

/** What each cancel met. */
function cancelsOf({ timeline }: MovementEvidence): readonly string[] {
  const states = new Map<string, string>();
  let movement = 'PENDING_APPROVAL';
  for (const { event_type, node_key, from_state, to_state } of timeline) {
    if (event_type === 'request_cancelled') {
      const met = [...states.values()];
      if (met.includes('UNKNOWN')) return ['an unknown send'];
      if (met.some((state) => ['SUBMITTING', 'SUBMITTED', 'OBSERVING'].includes(state)))
        return ['a send under way'];
      return [movement === 'WAITING_MANUAL_ACTION' ? 'a gate' : 'a hold'];
    }
    if (to_state === null) continue;
    if (node_key === null || !event_type.startsWith('node_'))
      movement = from_state === null ? movement : to_state;
    else states.set(node_key, to_state);
  }
  return [];
}

function nameOf({
  event_type,
  node_key,
}: {
  readonly event_type: string;
  readonly node_key: string | null;
}): string {
  return node_key === null ? event_type : `${node_key} ${event_type}`;
}

function between(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1_000;
}

function tally(items: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return shown(counts);
}

function shown(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}
