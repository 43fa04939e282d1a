/** `fundctl signers`: the signers, their addresses, and their rotation and retirement. */
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { usageError } from '../../command-line/exit.ts';
import { operation, YES } from '../../command-line/operation.ts';
import { amount, flag, many, required, text, whole } from '../../command-line/options.ts';
import type { Session } from '../../command-line/session.ts';
import { state, type View } from '../../command-line/view.ts';
import { failure, when } from '../../command-line/words.ts';
import type { ResultOf, Schema } from '../../http/operations.ts';
import { REASON } from '../shared.ts';

type Signer = Schema<'SignerRegistryView'>;
type Lane = Signer['lanes'][number];
type Row = Parameters<View['record']>[0][number];
const SIGNER = { signerKey: 'key of the signer' };
const CHAINS = { chain: many('chain-id', 'only on this chain') };

const ofSigner = ({ args }: { readonly args: { readonly signerKey: string } }) => ({
  params: { signer_key: args.signerKey },
});
const numberOf = (text?: string) => (text === undefined ? undefined : Number(text));

export const signers: Group = {
  name: 'signers',
  about: 'Signers: pin, rotate, look into, retire',
  commands: [
    operation('listSigners', {
      name: 'list',
      about: 'List signers with their addresses',
      show: (session, body) =>
        session.table(body, {
          SIGNER: 'signer_key',
          STATUS: { state: 'status' },
          IDENTITY: { state: 'identity_state' },
          FAMILY: 'chain_family',
          PROFILE: 'profile',
          BACKEND: 'backend',
          PINNED: 'expected_signer_address',
          OBSERVED: 'observed_signer_address',
        }),
    }),
    command({
      name: 'show',
      about: 'Show a signer with its open nonces on each chain',
      args: SIGNER,
      answer: { operation: 'updateSignerStatus' },
      run: async ({ session, args }) => {
        const signer = await signerOf(session, args.signerKey);
        await session.print(signer, () => signerText(session.view, signer));
      },
    }),
    switching('enable', 'Let a signer sign again (admin)', 'active'),
    switching(
      'disable',
      'Stop a signer: what has not passed its fence fails, and nothing is signed (admin)',
      'disabled',
    ),
    command({
      name: 'pin',
      about: 'Say which address a signer must have (admin)',
      details:
        'Without --previous it replaces the pin that is stored now, and shows it before you confirm.',
      args: { ...SIGNER, address: 'the address that you expect' },
      options: {
        previous: text('address', 'the pin that you replace, none for the first'),
        ...REASON,
        ...YES,
      },
      answer: answerOf('setExpectedSignerIdentity'),
      run: async ({ session, args, options }) => {
        const now = await signerOf(session, args.signerKey);
        const previous = options.previous ?? now.expected_signer_address;
        await session.confirm('Pin this address?', {
          yes: options.yes,
          what: session.aside.record([
            ['signer', args.signerKey],
            ['address', { text: args.address, tone: 'strong' }],
            ['pinned now', now.expected_signer_address ?? 'none'],
            ['observed', now.observed_signer_address ?? 'not yet'],
          ]),
        });
        const answer = await session.call('setExpectedSignerIdentity', {
          params: { signer_key: args.signerKey },
          body: {
            expected_address: args.address,
            previous_expected_address: previous === 'none' ? null : previous,
            reason: options.reason,
          },
        });
        await session.print(answer, () =>
          session.view.fields(answer, {
            outcome: 'outcome',
            pinned: 'expected_signer_address',
            live: 'runtime_address',
          }),
        );
      },
    }),
    command({
      name: 'rotate',
      about: 'Bind what a signer has to its replacement, or drill that (admin)',
      details:
        'A drill checks everything, keeps evidence and changes nothing. A live rotation needs --ack-impact; it drills and shows what would be remapped and kept before you confirm.',
      examples: ['fundctl signers rotate treasury treasury-2 --drill --reason "quarterly drill"'],
      args: { ...SIGNER, replacement: 'key of the signer that follows it' },
      options: {
        drill: flag('check everything and change nothing'),
        ackImpact: flag('you have read what it changes; a live rotation needs it'),
        ...REASON,
        ...YES,
      },
      answer: answerOf('rotateSigner'),
      run: async ({ session, args, options }) => {
        const rotate = (drill: boolean) =>
          session.call('rotateSigner', {
            params: { signer_key: args.signerKey },
            body: {
              replace_with: args.replacement,
              reason: options.reason,
              drill,
              ack_impact: options.ackImpact,
            },
          });
        if (!options.drill) {
          if (!options.ackImpact)
            throw usageError('A live rotation needs --ack-impact; look with --drill first.');
          const foreseen = await rotate(true);
          await session.confirm('Rotate for good?', {
            yes: options.yes,
            what: rotationText(session.aside, foreseen),
          });
        }
        const answer = await rotate(options.drill);
        await session.print(answer, () => rotationText(session.view, answer));
      },
    }),
    command({
      name: 'raise-caps',
      about: 'Let what takes a used nonce of one lane cost more for a while (admin)',
      details:
        'For a replacement or a transaction that moves nothing (LANE_STUCK, FEE_ABOVE_CAP): their messages say what it takes. Other lanes and first sends keep the caps of the chain. A raise takes the place of the one before; --ttl-seconds 0 ends it.',
      examples: [
        'fundctl signers raise-caps treasury 1 --max-gas-cost-wei 200000000000000000 --ttl-seconds 3600 --reason "gas is dear"',
      ],
      args: { ...SIGNER, chainId: 'id of the chain' },
      options: {
        maxGasCostWei: text('wei', 'most that one transaction may cost'),
        maxFeePerGasGwei: text('gwei', 'most that is offered for gas, where the chain caps it'),
        ttlSeconds: required(whole('seconds', 'so long it holds, 604800 at most')),
        address: text('address', 'of the lane, where the signer has had several addresses'),
        ...REASON,
        ...YES,
      },
      answer: answerOf('raiseLaneCaps'),
      run: async ({ session, args, options }) => {
        const { lanes } = await signerOf(session, args.signerKey);
        const lane = laneOf(lanes, args.chainId, options.address);
        const { maxGasCostWei: cost, maxFeePerGasGwei: fee } = options;
        await session.confirm('Raise the caps of this lane?', {
          yes: options.yes,
          what: session.aside.record([
            ...laneText(lane),
            ['new caps', capsText({ max_gas_cost_wei: cost, max_fee_per_gas_gwei: fee })],
            ['for', `${String(options.ttlSeconds)} seconds`],
          ]),
        });
        const answer = await session.call('raiseLaneCaps', {
          params: { chain_id: String(lane.chain_id), address: lane.address },
          body: {
            max_gas_cost_wei: cost,
            max_fee_per_gas_gwei: fee,
            ttl_seconds: options.ttlSeconds,
            reason: options.reason,
          },
        });
        await session.print(answer, () => session.view.record(laneText(answer)));
      },
    }),
    operation('listSignerHoldings', {
      name: 'inventory',
      about: "What a signer's account holds on each chain (admin)",
      args: SIGNER,
      options: { ...CHAINS, noPersist: flag('keep no evidence of it') },
      input: (call) => ({
        ...ofSigner(call),
        body: { persist: !call.options.noPersist, ...chainsOf(call.options.chain) },
      }),
      show: (session, answer) =>
        session.table(answer.balances, {
          CHAIN: 'chain',
          ASSET: 'asset',
          AMOUNT: { right: 'amount' },
          TOKEN: 'token_address',
          PROBLEM: (row) => ({ text: row.problem ?? '', tone: 'bad' }),
        }),
    }),
    operation('listSignerAllowances', {
      name: 'allowances',
      about: "Who may take from a signer's account (admin)",
      args: SIGNER,
      options: CHAINS,
      input: (call) => ({ ...ofSigner(call), body: chainsOf(call.options.chain) }),
      show: (session, { allowances }) =>
        session.table(allowances, {
          CHAIN: 'chain',
          TOKEN: 'token_address',
          SPENDER: 'spender',
          AMOUNT: { right: 'amount' },
        }),
      after: ({ unsupported_spender_not_checked: isPartial }, { session }) => {
        if (isPartial) session.warn('The scan was partial: not every spender could be checked.');
      },
    }),
    operation('retireSigner', {
      name: 'retire',
      about: 'End a deprecated signer for good (admin)',
      args: SIGNER,
      options: {
        ackAllowances: flag('allowances may remain'),
        dustThreshold: amount('how many whole units of each asset may remain'),
      },
      ask: 'Retire it for good?',
      what: async ({ session, args }) =>
        signerText(session.aside, await signerOf(session, args.signerKey)),
      input: (call) => ({
        ...ofSigner(call),
        body: {
          ack_allowances: call.options.ackAllowances,
          // A maximum in whole units, which the API takes as a number.
          dust_threshold_usd: numberOf(call.options.dustThreshold),
        },
      }),
      show: ({ view }, answer) =>
        view.fields(answer, {
          signer: 'signer_key',
          outcome: 'outcome',
          evidence: 'evidence_id',
        }),
    }),
    operation('getSignerRotationHistory', {
      name: 'history',
      about: 'Drills, rotations, evidence and denials of a signer, oldest first',
      args: SIGNER,
      input: ofSigner,
      show: (session, body) =>
        session.table(body.events, {
          TIME: { when: 'occurred_at' },
          EVENT: 'event_type',
          REPLACEMENT: 'replace_with',
          REASON: 'reason',
        }),
    }),
  ],
};

function chainsOf(chains: readonly string[]): { chains?: string[] } {
  return chains.length === 0 ? {} : { chains: [...chains] };
}

async function signerOf(session: Session, key: string): Promise<Signer> {
  const signer = (await session.call('listSigners')).find((each) => each.signer_key === key);
  if (signer === undefined) throw failure(`There is no signer ${key}; see fundctl signers list.`);
  return signer;
}

function switching(name: string, about: string, status: 'active' | 'disabled') {
  return operation('updateSignerStatus', {
    name,
    about,
    args: SIGNER,
    options: { reason: text('text', 'kept in the audit') },
    ask: `Make it ${status}?`,
    what: ({ args }) => ({ signer: args.signerKey }),
    input: (call) => ({ ...ofSigner(call), body: { status, reason: call.options.reason } }),
    show: ({ view }, row) => signerText(view, row),
  });
}

function signerText(view: View, signer: Signer): string {
  return view.record([
    ['signer', signer.signer_key],
    ['status', state(signer.status)],
    ['identity', state(signer.identity_state)],
    ['pinned', signer.expected_signer_address],
    ['observed', signer.observed_signer_address],
    ['backend', signer.backend],
    ['profile', signer.profile],
    ['updated', when(signer.updated_at)],
    ...signer.lanes.flatMap(laneText),
  ]);
}

function laneOf(lanes: readonly Lane[], chainId: string, address: string | undefined): Lane {
  const found = lanes.filter(
    (lane) =>
      String(lane.chain_id) === chainId &&
      (address === undefined || lane.address === address.toLowerCase()),
  );
  const [lane, ...others] = found;
  if (lane === undefined)
    throw failure(`The signer has no such lane on chain ${chainId}; see fundctl signers show.`);
  if (others.length > 0)
    throw failure(
      `The signer has several lanes on chain ${chainId}; give --address: ${found.map((each) => each.address).join(', ')}.`,
    );
  return lane;
}

/** Returns a nonce lane's position, what blocks it, and the fee limits of its transactions. */
function laneText({ stuck, caps, raise, ...lane }: Lane): Row[] {
  const rows: Row[] = [
    [
      `chain ${String(lane.chain_id)}`,
      `next nonce ${String(lane.next_nonce)}, ${String(lane.open_nonces)} open, ${String(lane.unfinal_nonces)} not final`,
    ],
  ];
  if (stuck !== null)
    rows.push([
      'stuck',
      {
        text: `nonce ${String(stuck.nonce)} since ${when(stuck.since)}: ${stuck.why}`,
        tone: 'bad',
      },
    ]);
  if (stuck === null && raise === null) return rows;
  if (caps !== null) rows.push(['caps', capsText(caps)]);
  if (raise !== null)
    rows.push([
      'raised',
      `until ${when(raise.until)} by ${raise.raised_by.key_id ?? 'no key'}: ${raise.reason}`,
    ]);
  return rows;
}

function capsText(caps: {
  readonly max_gas_cost_wei: string | undefined;
  readonly max_fee_per_gas_gwei: string | null | undefined;
}): string {
  const { max_gas_cost_wei: cost, max_fee_per_gas_gwei: fee } = caps;
  return [
    ...(cost === undefined ? [] : [`${cost} wei for a transaction`]),
    ...(fee == null ? [] : [`${fee} gwei per gas`]),
  ].join(', ');
}

function rotationText(view: View, { impact, ...answer }: ResultOf<'rotateSigner'>): string {
  return view.record([
    ['outcome', answer.outcome],
    ['signer', answer.signer_key],
    ['replacement', answer.replace_with],
    ['nodes remapped', impact.remapped],
    ['open nonces', impact.open_nonces],
    ['wait for approval', impact.pending_approval],
    ...impact.kept.map(
      (node) => ['kept', `${node.movement_id} ${node.node_key}: ${node.reason}`] as const,
    ),
  ]);
}
