/** Lists all events of the movement, newest first. */
import { useMemo } from 'react';
import { stateInWords } from '../../../parts/format.ts';
import { Text } from '../../../parts/text.tsx';
import { Time } from '../../../parts/values.tsx';
import type { Timeline as Events } from '../model/answers.ts';
import { isEmpty, Json } from '../../../parts/json.tsx';
import { Section } from '../../../parts/section.tsx';
import { List } from '../../../parts/table.tsx';

export function Timeline({ events }: { events: Events }) {
  const newestFirst = useMemo(() => events.toReversed(), [events]);
  return (
    <Section title="Timeline">
      <List
        label="Events, newest first"
        className="timeline"
        height={60}
        rows={newestFirst}
        keyOf={({ sequence }) => String(sequence)}
        entry={(event) => (
          <>
            <span className="small">{event.sequence}.</span> <Event event={event} />
          </>
        )}
      />
    </Section>
  );
}

export function Event({ event }: { event: Events[number] }) {
  const { event_type, node_key, attempt, from_state, to_state, message, data } = event;
  return (
    <>
      <Time at={event.occurred_at} /> <strong>{stateInWords(event_type)}</strong>
      {node_key !== null && (
        <>
          {' '}
          <Text>{node_key}</Text>
          {attempt !== null && ` (attempt ${String(attempt)})`}
        </>
      )}
      {(from_state !== null || to_state !== null) &&
        ` ${from_state ?? 'nothing'} to ${to_state ?? 'nothing'}`}
      {': '}
      <Text>{message}</Text> <span className="small">by {actorOf(event)}</span>
      {!isEmpty(data) && (
        <>
          {' '}
          <Json value={data} />
        </>
      )}
    </>
  );
}

/** Shows the actor of an event: the label that the caller chose, and the authenticated key. */
function actorOf({ actor }: Events[number]) {
  const names = [actor.label, actor.client_id, actor.key_id === null ? null : actor.key_id].filter(
    (name): name is string => typeof name === 'string' && name !== '',
  );
  return names.length === 0 ? (
    <>{actor.type}</>
  ) : (
    <>
      <Text>{[...new Set(names)].join(', ')}</Text> ({actor.type})
    </>
  );
}
