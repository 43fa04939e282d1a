/**
 * One write of an operator: a button that says why it is not offered, and a sheet that shows what
 * is signed. It leaves once. After a lost answer the page is read again before it is offered again.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { randomHex } from '../../clients/http/bytes.ts';
import {
  OPERATIONS,
  type Input,
  type Operation,
  type OperationId,
} from '../../clients/http/operations.ts';
import { pathOf, queryOf } from '../../clients/http/target.ts';
import { afterFailure } from '../data/after-failure.ts';
import { useWrongClock } from '../data/clock.ts';
import { callOf } from '../data/reads.ts';
import { roleRefusal, useRole } from '../data/roles.ts';
import { Json } from './json.tsx';
import { AnyValue } from './all-fields.tsx';
import { Button } from './button.tsx';
import { initialValues, readForm, type Entry, type Values } from './form-model.ts';
import { FormEntries } from './form.tsx';
import { LostAnswer, type Looking } from './lost-answer.tsx';
import { Problem } from './problem.tsx';
import { Sheet } from './sheet.tsx';
import { Text } from './text.tsx';

export type Body = Readonly<Record<string, unknown>>;

/** What is sent, but for the names in it that the operation's type knows. */
export interface WriteInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Body;
}

export interface Write {
  readonly operation: OperationId;
  /** Of button and sheet: `Disable evm`. */
  readonly title: string;
  readonly consequence: string;
  readonly entries?: readonly Entry[];
  /** What is sent, of what was filled in. */
  readonly inputOf: (filled: Body) => WriteInput;
  readonly kind?: 'plain' | 'main' | 'danger';
  /** What it is about as it stands; where it changes under the sheet, the sheet sends nothing. */
  readonly standing?: string;
}

export function WriteButton({
  write,
  disabledBecause = null,
}: {
  write: Write;
  disabledBecause?: string | null;
}) {
  const role = useRole();
  const [isOpen, setOpen] = useState(false);
  // One for each thing that is done, however often its sheet is opened or its answer is lost.
  const key = useRef(randomHex(16));
  return (
    <>
      <Button
        kind={write.kind ?? 'plain'}
        disabledBecause={roleRefusal(role, write.operation) ?? disabledBecause}
        onClick={() => setOpen(true)}
      >
        {write.title}
      </Button>
      {isOpen && (
        <WriteSheet
          write={write}
          idempotencyKey={key.current}
          onDone={() => {
            key.current = randomHex(16);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

type Phase =
  | { readonly kind: 'filling'; readonly error: unknown; readonly note: string | null }
  | { readonly kind: 'sending' }
  | Looking
  | { readonly kind: 'done'; readonly answer: unknown };

const LOST =
  'The answer was lost, and the page was read again since. Look whether it is done before you send it again.';

function WriteSheet({
  write: now,
  idempotencyKey,
  onDone,
  onClose,
}: {
  write: Write;
  idempotencyKey: string;
  onDone: () => void;
  onClose: () => void;
}) {
  // What the sheet was opened for, whatever the page shows meanwhile.
  const [write] = useState(now);
  const { operation, entries = [], title, consequence, kind = 'main' } = write;
  const [values, setValues] = useState<Values>(() => initialValues(entries));
  const [phase, setPhase] = useState<Phase>({ kind: 'filling', error: null, note: null });
  const client = useQueryClient();
  const reading = readForm(entries, values);
  const input = reading.ok ? write.inputOf(reading.body) : null;
  const wrongClock = useWrongClock();
  const changed =
    write.standing === now.standing
      ? wrongClock
      : 'It was changed since this sheet was opened. Close the sheet and look.';

  const look = async (error: unknown): Promise<void> => {
    setPhase({ kind: 'looking', error, failed: null });
    try {
      await client.refetchQueries({ type: 'active' }, { throwOnError: true });
      setPhase({ kind: 'filling', error, note: LOST });
    } catch (failed) {
      setPhase({ kind: 'looking', error, failed });
    }
  };
  const send = async (): Promise<void> => {
    if (input === null || phase.kind !== 'filling' || changed !== null) return;
    setPhase({ kind: 'sending' });
    const options = OPERATIONS[operation].idempotent ? { idempotencyKey } : {};
    try {
      const answer: unknown = await callOf(operation, { ...input, ...options } as unknown as Input<
        typeof operation
      >);
      onDone();
      setPhase({ kind: 'done', answer });
    } catch (error) {
      if (afterFailure(error).kind === 'look_first') return look(error);
      setPhase({ kind: 'filling', error, note: 'The service refused it; nothing was done.' });
    }
    await client.invalidateQueries();
  };
  return (
    <Sheet open onClose={onClose} title={`${title}?`}>
      <p>
        <Text>{consequence}</Text>
      </p>
      {phase.kind === 'done' ? (
        <div role="status" className="notice">
          <p>The service has taken it. Its answer:</p>
          <AnyValue of={phase.answer} />
        </div>
      ) : phase.kind === 'looking' ? (
        <LostAnswer phase={phase} again={() => void look(phase.error)}>
          <strong>The answer was lost.</strong> It may have been taken: the present state is read
          before it is offered again.
        </LostAnswer>
      ) : (
        <form
          className="decision"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          {phase.kind === 'filling' && (
            <>
              <Problem error={phase.error} />
              {phase.note !== null && <p className="notice">{phase.note}</p>}
            </>
          )}
          <FormEntries entries={entries} values={values} onChange={setValues} />
          {input !== null && <Signed operation={operation} input={input} />}
          <Button
            kind={kind === 'plain' ? 'main' : kind}
            disabledBecause={
              phase.kind === 'sending'
                ? 'It is being sent.'
                : (changed ?? (reading.ok ? null : reading.problem))
            }
            onClick={() => void send()}
          >
            Sign and send
          </Button>
        </form>
      )}
    </Sheet>
  );
}

/** Method, path and body, as they are signed. */
export function Signed({ operation, input }: { operation: OperationId; input: WriteInput }) {
  const { method, path }: Operation = OPERATIONS[operation];
  return (
    <>
      <h3>What you sign</h3>
      <p>
        <code>
          {method} <Text>{targetOf(path, input)}</Text>
        </code>
      </p>
      {input.body !== undefined && <Json value={input.body} />}
    </>
  );
}

/** What cannot stand in a path is refused when it is sent, with a sentence. */
function targetOf(path: string, { params = {}, query = {} }: WriteInput): string {
  try {
    return pathOf(path, params) + queryOf(query);
  } catch {
    return path;
  }
}
