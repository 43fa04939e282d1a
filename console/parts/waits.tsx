/** Shows that a call waits for approvals: nothing was changed, and what people must approve. */
import type { ChangeRequestedError } from '../../clients/http/errors.ts';
import { ChangeLink } from './links.tsx';
import { Text } from './text.tsx';

/** Shows the change request that the service made instead of the change. */
export function Waits({ error: { changeRequestId, kind } }: { error: ChangeRequestedError }) {
  return (
    <div role="status" className="notice">
      <p>
        <strong>
          Waits for approvals: change request <ChangeLink id={changeRequestId} isShort />
        </strong>
      </p>
      <p>
        Nothing was changed: an approval rule applies to <Text>{kind.replaceAll('_', ' ')}</Text>.
        The last approval that it needs makes the call.
      </p>
    </div>
  );
}
