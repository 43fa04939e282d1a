/** People, a group and a rule of the shared stack, for movements of one template alone. */
import type { SigningKey } from '../../dev/stack/keys.ts';
import type { ApprovalRule } from '../../domain/approval/rule.ts';
import { connectDatabase } from '../../prisma/client.ts';
import { changeApprovers } from '../../store/approvals.ts';
import { shared } from './http.ts';
import { issueKey } from './tool.ts';

export interface ApprovalDesk {
  /** The keys of the people, in their order. */
  readonly keys: readonly SigningKey[];
  /** Takes the rule away. */
  close(): Promise<void>;
}

/**
 * Two of these people must approve. The rule stands in the database as the owner of the tables
 * writes it: `fundadmin` would refuse one that other templates avoid.
 */
export async function startApprovalDesk(
  name: string,
  people: readonly string[],
  templateKey: string,
  more: Partial<ApprovalRule> = {},
): Promise<ApprovalDesk> {
  const db = connectDatabase({ url: shared.databaseUrl, poolSize: 1 });
  const keys = await Promise.all(
    people.map((person) =>
      issueKey('--client-name', person, '--key-id', person, '--role', 'operator'),
    ),
  );
  const rule: ApprovalRule = {
    applies_to: 'movement',
    when: { template_keys: [templateKey] },
    require: [{ group: name, threshold: 2 }],
    initiator_may_approve: false,
    payee_author_may_approve: false,
    template_author_may_approve: false,
    reason_required: false,
    ...more,
  };
  await changeApprovers(
    db,
    {
      people: people.map((person, nr) => ({
        person,
        name: `${person.slice(0, 1).toUpperCase()}${person.slice(1)}`,
        identities: [keys[nr]?.clientId ?? ''],
      })),
      groups: [{ name, members: people }],
      rules: [{ name, rule }],
    },
    [],
  );
  return {
    keys,
    close: async () => {
      await changeApprovers(db, { rules: [{ name, remove: true }] }, []);
      await db.$disconnect();
    },
  };
}
