/**
 * A sheet that signs one request, from the form to its outcome. The request is sent once, and the
 * sheet stays open until the outcome is known: after a lost response the sheet reads the present
 * state before it offers the request again. What forbids every signature is checked here, so that
 * no sheet can forget it, and here no sheet can take a change request for the change.
 */
import { useState, type ReactNode } from 'react';
import { afterFailure } from '../data/after-failure.ts';
import { useWrongClock } from '../data/clock.ts';
import { useSession } from '../data/session.ts';
import { Button } from './button.tsx';
import { Json } from './json.tsx';
import { Problem } from './problem.tsx';
import { Sheet } from './sheet.tsx';
import { Text } from './text.tsx';

/** Method, path and body of the request that is signed. */
export interface Signs {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

type Phase<Done> =
  | { readonly kind: 'filling'; readonly error: unknown; readonly note: string | null }
  | { readonly kind: 'sending' }
  /**
   * `error`: why there is no response; `failed`: why the present state could not be read either.
   */
  | { readonly kind: 'looking'; readonly error: unknown; readonly failed: unknown }
  /** `error`: which change request people must approve before the request is done. */
  | { readonly kind: 'waits'; readonly error: unknown }
  | { readonly kind: 'done'; readonly answer: Done };

/**
 * Why the sheet cannot be closed in a phase. A closed sheet would lose the request in progress, and
 * the operator could send the same request again.
 */
const STAYS: Readonly<Record<Phase<unknown>['kind'], string | null>> = {
  filling: null,
  sending: 'It is being sent: the sheet stays until there is an answer.',
  looking: 'The sheet stays until it is known what became of it.',
  waits: null,
  done: null,
};

export interface SignedSheetProps<Done> {
  readonly title: string;
  readonly onClose: () => void;
  /** Shown above the form and above the outcome. */
  readonly above?: ReactNode;
  /** Warnings against the request, shown until it is sent. */
  readonly against?: ReactNode;
  /** The form's fields. */
  readonly children?: ReactNode;
  readonly kind?: 'main' | 'danger';
  /** Why the request cannot be sent now; null when it can. */
  readonly blocked: string | null;
  /** The exact request that is signed; null while it is not known. */
  readonly signs: Signs | null;
  /** Whether `send` first has the person's passkey sign, and sends that along as `assertion`. */
  readonly needsPasskey?: boolean;
  readonly send: () => Promise<Done>;
  /**
   * Reads the present state: returns the outcome if the request was done, else null; rejects when
   * the state cannot be read.
   */
  readonly look: () => Promise<Done | null>;
  /** Sentence shown when `look` returns null: whether the request may be sent again. */
  readonly again: string;
  /** Reads the page's data again after the request was accepted or refused, or waits. */
  readonly reread?: () => Promise<unknown>;
  readonly done: (answer: Done) => ReactNode;
}

export function SignedSheet<Done>(props: SignedSheetProps<Done>) {
  const { title, onClose, above, children, kind = 'main', blocked, signs, again } = props;
  const { needsPasskey = false } = props;
  const [phase, setPhase] = useState<Phase<Done>>({ kind: 'filling', error: null, note: null });
  const reread = async (): Promise<void> => {
    await props.reread?.().catch(() => undefined);
  };
  const look = async (error: unknown): Promise<void> => {
    setPhase({ kind: 'looking', error, failed: null });
    try {
      const answer = await props.look();
      setPhase(
        answer === null ? { kind: 'filling', error, note: again } : { kind: 'done', answer },
      );
    } catch (failed) {
      setPhase({ kind: 'looking', error, failed });
    }
  };
  const send = async (): Promise<void> => {
    setPhase({ kind: 'sending' });
    try {
      setPhase({ kind: 'done', answer: await props.send() });
    } catch (error) {
      const { kind } = afterFailure(error);
      if (kind === 'look_first') return look(error);
      setPhase(
        kind === 'waits'
          ? { kind, error }
          : { kind: 'filling', error, note: 'It was not taken; nothing was done.' },
      );
    }
    await reread();
  };
  const refused = useCannotSign() ?? (phase.kind === 'sending' ? 'It is being sent.' : blocked);
  const submit = (): void => {
    if (phase.kind === 'filling' && refused === null) void send();
  };
  return (
    <Sheet open onClose={onClose} title={title} stays={STAYS[phase.kind]}>
      {above}
      {phase.kind === 'done' ? (
        <div role="status" className="notice">
          {props.done(phase.answer)}
        </div>
      ) : phase.kind === 'waits' ? (
        <Problem error={phase.error} />
      ) : phase.kind === 'looking' ? (
        <LostAnswer error={phase.error} failed={phase.failed} look={() => void look(phase.error)} />
      ) : (
        <form
          className="decision"
          // Enter in a field must not sign the request.
          onSubmit={(event) => event.preventDefault()}
        >
          {phase.kind === 'filling' && (
            <>
              {props.against}
              <Problem error={phase.error} />
              {phase.note !== null && <p className="notice">{phase.note}</p>}
            </>
          )}
          {children}
          {signs !== null && <Signed {...signs} />}
          {needsPasskey && (
            <p>
              A rule requires your passkey: the browser asks for its touch first, and what it signs
              is sent along as <code>assertion</code>.
            </p>
          )}
          <Button kind={kind} disabledBecause={refused} onClick={submit}>
            Sign and send
          </Button>
        </form>
      )}
    </Sheet>
  );
}

/** Returns why nothing can be signed now; null when signing is possible. */
export function useCannotSign(): string | null {
  return useWrongClock();
}

function LostAnswer({
  error,
  failed,
  look,
}: {
  error: unknown;
  failed: unknown;
  look: () => void;
}) {
  return (
    <div role="status" className="notice">
      <Problem error={error} />
      <p>
        <strong>No answer says what became of it.</strong> It may have been taken: the present state
        is read before it is offered again.
      </p>
      <Problem error={failed} />
      <Button onClick={look} disabledBecause={failed === null ? 'Looking.' : null}>
        Look again
      </Button>
    </div>
  );
}

export function Signed({ method, path, body }: Signs) {
  const session = useSession();
  return (
    <>
      <h3>What you sign</h3>
      <p>
        <code>
          {method} <Text>{path}</Text>
        </code>
      </p>
      {body !== undefined && <Json value={body} />}
      {session.kind === 'open' && (
        <p className="small">
          Signed by the key of <Text>{session.key.operator}</Text> in this browser, for this request
          alone.
        </p>
      )}
    </>
  );
}
