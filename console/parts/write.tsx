/**
 * One write of an operator: a button that shows why the write is not offered, and a sheet that
 * shows what is signed. After a lost response the page's data is read again before the write is
 * offered again.
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
import { assertionOf, type Approved } from '../data/passkeys.ts';
import { callOf } from '../data/reads.ts';
import { roleRefusal, useRole } from '../data/roles.ts';
import { AnyValue } from './all-fields.tsx';
import { Button } from './button.tsx';
import { initialValues, readForm, type Entry, type Values } from './form-model.ts';
import { FormEntries } from './form.tsx';
import { SignedSheet, type Signs } from './signed-sheet.tsx';
import { Text } from './text.tsx';

export type Body = Readonly<Record<string, unknown>>;

/** The input of an operation, without the exact types that the operation gives it. */
export interface WriteInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Body;
}

export interface Write {
  readonly operation: OperationId;
  /** Title of the button and the sheet, such as `Disable evm`. */
  readonly title: string;
  readonly consequence: string;
  readonly entries?: readonly Entry[];
  /** Returns the operation's input for the filled form. */
  readonly inputOf: (filled: Body) => WriteInput;
  readonly kind?: 'plain' | 'main' | 'danger';
  /**
   * State of the object that the write changes. If this differs from the state when the sheet was
   * opened, the sheet sends nothing.
   */
  readonly standing?: string;
  /**
   * The approval that the person's passkey must sign before the write is sent; null or absent: it
   * needs no passkey.
   */
  readonly passkey?: Approved | null;
  /** Returns what became of it, as a sentence; absent: the whole answer is shown. */
  readonly outcome?: (answer: unknown) => string;
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
 * Idempotency keys of writes that are not done yet, keyed by operation and path. A write keeps its
 * key when its sheet is opened again, its row is scrolled away, its response is lost, or it waits
 * for approvals.
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
  // The write for which the sheet was opened; the page may show another one meanwhile.
  const [write] = useState(now);
  const { operation, entries = [], title, consequence, kind = 'main', passkey = null } = write;
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
      needsPasskey={passkey !== null}
      send={async () => {
        const proof = passkey === null ? null : { assertion: await assertionOf(passkey) };
        const proven = proof === null ? input : { ...input, body: { ...input.body, ...proof } };
        const sent = proven as unknown as Input<typeof operation>;
        try {
          const answer: unknown = await callOf(operation, sent);
          KEYS.delete(subject);
          return answer;
        } catch (error) {
          // The conflict means that an earlier, different request with this key was accepted. This
          // request gets a new key.
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
      done={(answer) =>
        write.outcome === undefined ? (
          <>
            <p>The service has taken it. Its answer:</p>
            <AnyValue of={answer} />
          </>
        ) : (
          <p>
            <Text>{write.outcome(answer)}</Text>
          </p>
        )
      }
    >
      <FormEntries entries={entries} values={values} onChange={setValues} />
    </SignedSheet>
  );
}

/** Returns whether a read got a response: 403 and 404 count, since they also report a state. */
function isAnswered(error: unknown): boolean {
  return error === null || (error instanceof ApiError && [403, 404].includes(error.status));
}

/** Returns the request of an operation, as it is signed. */
export function signsOf(operation: OperationId, input: WriteInput): Signs {
  const { method, path }: Operation = OPERATIONS[operation];
  const { body } = input;
  return { method, path: targetOf(path, input), ...(body === undefined ? {} : { body }) };
}

/**
 * Returns the path with its parameters. When a parameter is not valid in a path, returns the path
 * without parameters; sending then fails with a sentence.
 */
function targetOf(path: string, { params = {}, query = {} }: WriteInput): string {
  try {
    return pathOf(path, params) + queryOf(query);
  } catch {
    return path;
  }
}
