/**
 * The runtime against histories that a real server and worker wrote: what came from outside comes
 * again in the same order, and the history that the runtime makes of it has the same events.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { temporal } from '@temporalio/proto';
import { fromPlain, HISTORIES, type Recording } from '../../replay/scenarios.ts';
import { Execution, type ActivityEnd, type Event } from './execution.ts';
import { Sandbox } from './sandbox.ts';

type Recorded = temporal.api.history.v1.IHistoryEvent;
type Attributes = Record<string, unknown>;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.open();
});
afterAll(() => sandbox.close());

/**
 * Written by workers whose runs had several local activities open at a time; the marker of one that
 * was open when its task completed stands behind a later task (docs/decisions/0058).
 */
const OVERLAPPING = [
  '0.1.0-cancel.json',
  '0.1.0-recover-to-unknown-and-resume.json',
  '0.2.0-recover-to-unknown-and-resume.json',
];

const runs = readdirSync(HISTORIES)
  .filter((file) => !OVERLAPPING.includes(file))
  .sort()
  .flatMap((file) => {
    const { runs } = JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as Recording;
    return runs.map((run, index) => ({ name: `${file}#${index + 1}`, run }));
  });

/** A history's event as the runtime names it. */
function eventOf(plain: object): Event {
  const kind = String(Reflect.get(plain, 'eventType')).replace('EVENT_TYPE_', '');
  const found = attributesOf(plain);
  const name = found['signalName'] ?? found['markerName'];
  return typeof name === 'string' ? { kind, name } : { kind };
}

function attributesOf(plain: object): Attributes {
  const [key] = Object.keys(plain).filter((each) => each.endsWith('Attributes'));
  return key === undefined ? {} : (Reflect.get(plain, key) as Attributes);
}

const millisecondsOf = (event: Recorded): number =>
  Number(event.eventTime?.seconds ?? 0) * 1_000 + (event.eventTime?.nanos ?? 0) / 1e6;

type Answer = readonly [seq: number, end: ActivityEnd];

/** Answers of local activities in the order of their markers; neighbours came together. */
function localAnswers(events: readonly Recorded[]): Answer[][] {
  const found: Answer[][] = [];
  let last: Answer[] | null = null;
  for (const { markerRecordedEventAttributes: marker } of events) {
    if (marker?.markerName !== 'core_local_activity') {
      last = null;
      continue;
    }
    const data = marker.details?.['data']?.payloads?.[0]?.data;
    const { seq } = JSON.parse(Buffer.from(data ?? []).toString('utf8')) as { seq: number };
    if (last === null) found.push((last = []));
    last.push([
      seq,
      marker.failure == null
        ? { completed: marker.details?.['result']?.payloads?.[0] ?? null }
        : { failed: marker.failure },
    ]);
  }
  return found;
}

/** How the activity of the event ended, if that is what it says. */
function endOf(event: Recorded): ActivityEnd | null {
  if (event.activityTaskCompletedEventAttributes != null)
    return { completed: event.activityTaskCompletedEventAttributes.result?.payloads?.[0] ?? null };
  if (event.activityTaskFailedEventAttributes?.failure != null)
    return { failed: event.activityTaskFailedEventAttributes.failure };
  if (event.activityTaskTimedOutEventAttributes?.failure != null)
    return { timedOut: event.activityTaskTimedOutEventAttributes.failure };
  return event.activityTaskCanceledEventAttributes == null ? null : { cancelled: null };
}

/** Lets what the history says came from outside happen again; returns the run's own history. */
async function happenAgain(
  { run, suggestsNewRunAfter }: { run: Recording['runs'][number]; suggestsNewRunAfter?: number },
  forgetful: boolean,
): Promise<Execution> {
  const events = fromPlain(run.history).events ?? [];
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const [build] = events.flatMap(
    ({ workflowTaskCompletedEventAttributes: done }) => done?.deploymentVersion ?? [],
  );
  const execution = new Execution(sandbox, {
    workflowId: run.workflow_id,
    runId: started?.originalExecutionRunId ?? '',
    workflowType: started?.workflowType?.name ?? '',
    taskQueue: 'fund-movements',
    startedAt: millisecondsOf(events[0] as Recorded),
    args: started?.input?.payloads ?? [],
    ...(suggestsNewRunAfter === undefined ? {} : { suggestsNewRunAfter }),
    ...(build === undefined ? {} : { build }),
  });
  const answers = localAnswers(events);
  const seqOf = new Map(
    events.flatMap(({ eventId, activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled == null ? [] : [[String(eventId), Number(scheduled.activityId)] as const],
    ),
  );
  const inTime = events
    .map((event, index) => ({ event, index, at: millisecondsOf(event) }))
    .sort((a, b) => a.at - b.at || a.index - b.index);
  if (events[1]?.workflowTaskScheduledEventAttributes != null) execution.scheduleFirstTask();
  for (const { event, at } of inTime) {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal != null) execution.signal(signal.signalName ?? '', signal.input?.payloads ?? []);
    else if (event.workflowTaskStartedEventAttributes != null) await execution.startTask(at);
    else if (
      event.workflowTaskCompletedEventAttributes != null ||
      event.workflowTaskFailedEventAttributes != null
    ) {
      for (;;) {
        const open = new Set(execution.localCalls.map(({ seq }) => seq));
        const next = answers.find((batch) => batch.some(([seq]) => open.has(seq)));
        if (next === undefined) break;
        await execution.endLocals(next, at);
      }
      await execution.completeTask();
      if (forgetful) await execution.forget();
    } else if (event.timerFiredEventAttributes != null)
      execution.fire(Number(event.timerFiredEventAttributes.timerId));
    else {
      const end = endOf(event);
      const scheduledId = Object.values(event)
        .map((each: unknown) => (each as { scheduledEventId?: unknown } | null)?.scheduledEventId)
        .find((each) => each != null);
      if (end !== null)
        execution.endActivity(
          seqOf.get(String(scheduledId)) ?? -1,
          end,
          Object.values(event).some(
            (each: unknown) =>
              Number((each as { startedEventId?: unknown } | null)?.startedEventId ?? 0) > 0,
          ),
        );
    }
  }
  return execution;
}

const withoutTypes = (history: readonly Event[]): Event[] =>
  history.map(({ kind, name }) =>
    kind.startsWith('ACTIVITY') || name === undefined ? { kind } : { kind, name },
  );

for (const forgetful of [false, true])
  test.each(runs)(
    `${forgetful ? 'from a replay at every task' : 'from the cache'}: $name`,
    async ({ name, run }) => {
      const plain = run.history.events;
      const short = name.includes('continued-as-new') ? { suggestsNewRunAfter: 60 } : {};
      const execution = await happenAgain({ run, ...short }, forgetful);
      expect(withoutTypes(execution.history)).toEqual(plain.map(eventOf));
      await execution.forget();
    },
  );
