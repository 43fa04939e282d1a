/**
 * One write of an operator: a button that says why it is not offered, and a sheet that shows what
 * is signed. After a lost answer the page is read again before it is offered again.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { randomHex } from '../../clients/http/bytes.ts';
import { ApiError } from '../../clients/http/errors.ts';
import {
  OPERATIONS,
  type Input,
  type Operation,
  type OperationId,
} from '../../clients/http/operations.ts';
import { pathOf, queryOf } from '../../clients/http/target.ts';
import { callOf } from '../data/reads.ts';
import { roleRefusal, useRole } from '../data/roles.ts';
import { AnyValue } from './all-fields.tsx';
import { Button } from './button.tsx';
import { initialValues, readForm, type Entry, type Values } from './form-model.ts';
import { FormEntries } from './form.tsx';
import { SignedSheet, type Signs } from './signed-sheet.tsx';
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
  return (
    <>
      <Button
        kind={write.kind ?? 'plain'}
        disabledBecause={roleRefusal(role, write.operation) ?? disabledBecause}
        onClick={() => setOpen(true)}
      >
        {write.title}
      </Button>
      {isOpen && <WriteSheet write={write} onClose={() => setOpen(false)} />}
    </>
  );
}

/**
 * By operation and path, of what is not done yet: one key for each thing that is done, however
 * often its sheet is opened, its row scrolled away, or its answer lost.
 */
const KEYS = new Map<string, string>();

function keyFor(subject: string): string {
  const key = KEYS.get(subject) ?? randomHex(16);
  KEYS.set(subject, key);
  return key;
}

const LOST =
  'The answer was lost, and the page was read again since. Look whether it is done before you send it again.';

function WriteSheet({ write: now, onClose }: { write: Write; onClose: () => void }) {
  // What the sheet was opened for, whatever the page shows meanwhile.
  const [write] = useState(now);
  const { operation, entries = [], title, consequence, kind = 'main' } = write;
  const [values, setValues] = useState<Values>(() => initialValues(entries));
  const client = useQueryClient();
  const reading = readForm(entries, values);
  const filled = reading.ok ? write.inputOf(reading.body) : {};
  const subject = `${operation} ${signsOf(operation, filled).path}`;
  const input =
    reading.ok && OPERATIONS[operation].idempotent
      ? { ...filled, body: { ...filled.body, idempotency_key: keyFor(subject) } }
      : filled;
  const changed =
    write.standing === now.standing
      ? null
      : 'It was changed since this sheet was opened. Close the sheet and look.';
  return (
    <SignedSheet<unknown>
      title={`${title}?`}
      onClose={onClose}
      above={
        <p>
          <Text>{consequence}</Text>
        </p>
      }
      kind={kind === 'plain' ? 'main' : kind}
      blocked={changed ?? (reading.ok ? null : reading.problem)}
      signs={reading.ok ? signsOf(operation, input) : null}
      send={async () => {
        const sent = input as unknown as Input<typeof operation>;
        try {
          const answer: unknown = await callOf(operation, sent);
          KEYS.delete(subject);
          return answer;
        } catch (error) {
          // What was sent before under this key is done, which the refusal says; this is another.
          if (error instanceof ApiError && error.rawCode === 'idempotency_conflict')
            KEYS.delete(subject);
          throw error;
        }
      }}
      look={async () => {
        const active = { type: 'active' } as const;
        await client.refetchQueries(active);
        const failed = client
          .getQueryCache()
          .findAll(active)
          .find(({ state }) => !isAnswered(state.error));
        if (failed !== undefined) throw failed.state.error;
        return null;
      }}
      again={LOST}
      reread={() => client.invalidateQueries()}
      done={(answer) => (
        <>
          <p>The service has taken it. Its answer:</p>
          <AnyValue of={answer} />
        </>
      )}
    >
      <FormEntries entries={entries} values={values} onChange={setValues} />
    </SignedSheet>
  );
}

/** That there is no such thing, or none for this operator, is an answer too. */
function isAnswered(error: unknown): boolean {
  return error === null || (error instanceof ApiError && [403, 404].includes(error.status));
}

/** What an operation's request is, as it is signed. */
export function signsOf(operation: OperationId, input: WriteInput): Signs {
  const { method, path }: Operation = OPERATIONS[operation];
  const { body } = input;
  return { method, path: targetOf(path, input), ...(body === undefined ? {} : { body }) };
}

/** What cannot stand in a path is refused when it is sent, with a sentence. */
function targetOf(path: string, { params = {}, query = {} }: WriteInput): string {
  try {
    return pathOf(path, params) + queryOf(query);
  } catch {
    return path;
  }
}
