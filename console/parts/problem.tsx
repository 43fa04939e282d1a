/**
 * Shows an error in the service's own words, and whether a request may have been accepted. A call
 * that waits for approvals is shown as such.
 */
import { ApiError, ChangeRequestedError, UnreachableError } from '../../clients/http/errors.ts';
import { Text } from './text.tsx';
import { Waits } from './waits.tsx';

export function Problem({ error }: { error: unknown }) {
  if (error == null) return null;
  if (error instanceof ChangeRequestedError) return <Waits error={error} />;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div role="alert" className="problem">
      <p>
        <Text>{message}</Text>
      </p>
      {error instanceof ApiError && (
        <p className="small">
          <code>{error.code}</code>
          {error.requestId !== null && (
            <>
              {' '}
              request <code>{error.requestId}</code>
            </>
          )}
        </p>
      )}
      {error instanceof UnreachableError && error.maybeTaken && (
        <p>The service may have taken it. Look at the present state before you repeat it.</p>
      )}
    </div>
  );
}
