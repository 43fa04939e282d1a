/** Passkeys, which sign approvals that the service cannot make: whose there are, and a new one. */
import { useState } from 'react';
import type { ResultOf } from '../../../clients/http/operations.ts';
import { makePasskey, type MadePasskey } from '../../data/passkeys.ts';
import { useRead } from '../../data/reads.ts';
import { roleRefusal, useRole } from '../../data/roles.ts';
import { Button } from '../../parts/button.tsx';
import { Reading } from '../../parts/reading.tsx';
import { SignedSheet } from '../../parts/signed-sheet.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Id, Time } from '../../parts/values.tsx';
import { signsOf } from '../../parts/write.tsx';

type Passkey = ResultOf<'listPasskeys'>['passkeys'][number];

export default function Passkeys() {
  const read = useRead('listPasskeys', {});
  const role = useRole();
  const [isMaking, setMaking] = useState(false);
  return (
    <>
      <h1>Passkeys</h1>
      <p>
        A passkey signs approvals with a key that stays in your authenticator, so the service cannot
        approve in your name. A rule may require it.
      </p>
      <div className="actions">
        <Button
          kind="main"
          disabledBecause={roleRefusal(role, 'offerPasskey')}
          onClick={() => setMaking(true)}
        >
          Make a passkey…
        </Button>
      </div>
      <Reading of={read}>{({ passkeys }) => <Rows rows={passkeys} />}</Reading>
      {isMaking && (
        <MakeSheet
          onClose={() => setMaking(false)}
          readAgain={() => read.refetch({ throwOnError: true })}
        />
      )}
    </>
  );
}

function Rows({ rows }: { rows: readonly Passkey[] }) {
  return (
    <Table
      caption="Passkeys"
      rows={rows}
      keyOf={({ credential_id }) => credential_id}
      none="No one has a passkey yet."
      columns={[
        { title: 'Person', cell: ({ person }) => <Text>{person}</Text> },
        {
          title: 'Fingerprint',
          cell: ({ fingerprint }) => (
            <code>
              <Text>{fingerprint}</Text>
            </code>
          ),
        },
        { title: 'Answers at', cell: ({ origin }) => <Text>{origin}</Text> },
        { title: 'Enrolled', cell: ({ enrolled_at }) => <Time at={enrolled_at} /> },
        {
          title: 'Ended',
          cell: ({ revoked_at }) =>
            revoked_at === null ? (
              <span className="none">it is in force</span>
            ) : (
              <Time at={revoked_at} />
            ),
        },
        { title: 'Id', cell: ({ credential_id }) => <Id>{credential_id}</Id> },
      ]}
    />
  );
}

const LOST =
  'The answer was lost. A passkey that is not confirmed counts for nothing, so you can make another.';

/** The sheet that makes a passkey and offers it to the service. */
function MakeSheet({
  onClose,
  readAgain,
}: {
  onClose: () => void;
  readAgain: () => Promise<unknown>;
}) {
  return (
    <SignedSheet<MadePasskey>
      title="Make a passkey?"
      onClose={onClose}
      blocked={null}
      // Its body is made by the authenticator.
      signs={signsOf('offerPasskey', {})}
      send={makePasskey}
      look={async () => {
        await readAgain();
        return null;
      }}
      again={LOST}
      done={(made) => <Made {...made} />}
    >
      <p>
        Your authenticator makes a key and keeps it: this machine, a telephone or a security key.
        The browser asks for its touch, then the service gets the public half of the key. It counts
        once an administrator has confirmed it.
      </p>
    </SignedSheet>
  );
}

/** Shows what an administrator has to compare before the passkey counts. */
function Made({ person, fingerprint }: MadePasskey) {
  const command = `fundadmin passkeys confirm --person ${person} --fingerprint ${fingerprint}`;
  return (
    <>
      <p>
        Person{' '}
        <strong>
          <Text>{person}</Text>
        </strong>
        , fingerprint <strong className="fingerprint">{fingerprint}</strong>
      </p>
      <p>
        Read the fingerprint to an administrator over a way that you both trust. They confirm it
        within seven days:{' '}
        <code>
          <Text>{`${command} --as <their name>`}</Text>
        </code>
      </p>
      <p>The list shows the passkey once it is confirmed.</p>
    </>
  );
}
