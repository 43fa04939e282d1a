/** The fields of a decision's form. */
import type { Choice } from '../model/choices.ts';
import { LONGEST_REASON, REASONS, type Filled } from '../model/decision.ts';

/** The form of a decision: only the fields that its command takes. */
export function FormFields({
  choice,
  filled,
  onChange,
}: {
  choice: Choice;
  filled: Filled;
  onChange: (filled: Filled) => void;
}) {
  const { verb } = choice;
  const proves = verb === 'resolve' || verb === 'reassign';
  return (
    <>
      {(verb === 'approve' || verb === 'reject') && (
        <label>
          Who decides, as the record names it
          <input
            value={filled.approver_id}
            onChange={({ target }) => onChange({ ...filled, approver_id: target.value })}
          />
        </label>
      )}
      {verb === 'resolve' && <Outcomes of={choice} filled={filled} onChange={onChange} />}
      {verb === 'reassign' && (
        <>
          <label>
            Movement that the payment is for
            <input
              value={filled.to_movement_id ?? ''}
              onChange={({ target }) =>
                onChange({ ...filled, to_movement_id: target.value.trim() })
              }
            />
          </label>
          <label>
            Node that the payment is for
            <input
              value={filled.to_node_key ?? ''}
              onChange={({ target }) => onChange({ ...filled, to_node_key: target.value })}
            />
          </label>
        </>
      )}
      {REASONS[verb] !== 'none' && (
        <label>
          {reasonLabel(verb)}
          <textarea
            rows={3}
            value={filled.reason}
            aria-describedby="reason-length"
            onChange={({ target }) => onChange({ ...filled, reason: target.value })}
          />
          <span className="small" id="reason-length">
            {filled.reason.length} of {LONGEST_REASON} characters
          </span>
        </label>
      )}
      {proves && (
        <label>
          What proves it, one a line: a reference, a transaction hash, or a name with its value
          (statement=2026-11)
          <textarea
            rows={2}
            value={filled.proofs ?? ''}
            onChange={({ target }) => onChange({ ...filled, proofs: target.value })}
          />
        </label>
      )}
      {verb === 'resolve' && filled.outcome === 'completed' && (
        <Claim of={choice} filled={filled} onChange={onChange} />
      )}
    </>
  );
}

interface ResolveFields {
  readonly of: Choice;
  readonly filled: Filled;
  readonly onChange: (filled: Filled) => void;
}

/** The outcomes on offer; all where the service names none. */
function Outcomes({ of: { outcomes }, filled, onChange }: ResolveFields) {
  const OUTCOMES = [
    ['completed', 'Completed: its effect landed'],
    ['failed', 'Failed: it is proven that nothing landed'],
    ['abandoned', 'Abandoned: neither can be known, and it may still land'],
  ] as const;
  const offered = OUTCOMES.filter(([outcome]) => outcomes?.includes(outcome) ?? true);
  return (
    <fieldset>
      <legend>What became of it</legend>
      {offered.map(([outcome, words]) => (
        <label key={outcome} className="choice">
          <input
            type="radio"
            name="outcome"
            checked={filled.outcome === outcome}
            onChange={() => {
              const { mint_tx_hashes: _hashes, output: _output, ...others } = filled;
              onChange({ ...others, outcome });
            }}
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}

/** What completed the node: a field for each way in which the request may name it. */
function Claim({ of: { claim_places }, filled, onChange }: ResolveFields) {
  const outputs = claim_places?.filter((place) => place.startsWith('output.')) ?? [];
  return (
    <>
      {outputs.length > 0 && (
        <label>
          Output as a JSON object, with {outputs.join(', or ').replaceAll('output.', '')}: what
          completed it, as its source shows it
          <textarea
            rows={4}
            value={filled.output ?? ''}
            onChange={({ target }) => onChange({ ...filled, output: target.value })}
          />
        </label>
      )}
      {(claim_places?.includes('mint_tx_hashes') ?? true) && (
        <label>
          Of a burn: hashes of the transactions that minted it, one a line (else leave it empty)
          <textarea
            rows={2}
            value={(filled.mint_tx_hashes ?? []).join('\n')}
            onChange={({ target }) =>
              onChange({
                ...filled,
                mint_tx_hashes: target.value.split(/\s+/).filter((hash) => hash !== ''),
              })
            }
          />
        </label>
      )}
    </>
  );
}

function reasonLabel(verb: keyof typeof REASONS): string {
  if (REASONS[verb] === 'required') return 'Reason';
  return verb === 'approve' ? 'Reason (a rule may require it)' : 'Reason (may be left out)';
}
