/**
 * Creates a movement from a template: choose, fill in, check the preview, sign one create request.
 * Its idempotency key is made once and kept with the form. After a lost response the page looks for
 * the movement before it offers the create request again.
 */
import { Link, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { randomHex } from '../../../clients/http/bytes.ts';
import type { QueryOf, RowOf } from '../../../clients/http/operations.ts';
import { afterFailure } from '../../data/after-failure.ts';
import { useRead, useRows } from '../../data/reads.ts';
import { roleRefusal, useRole } from '../../data/roles.ts';
import { useSession } from '../../data/session.ts';
import { AllFields } from '../../parts/all-fields.tsx';
import { Button } from '../../parts/button.tsx';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { initialValues, readForm, type Values } from '../../parts/form-model.ts';
import { FormEntries } from '../../parts/form.tsx';
import { MovementLink } from '../../parts/movement-values.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Section } from '../../parts/section.tsx';
import { Signed, SignedSheet } from '../../parts/signed-sheet.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { signsOf } from '../../parts/write.tsx';
import { create, keepPending, previewOf, readPending, type Preview } from './data.ts';
import { createBody, entriesOf, isOf, madeAlready, type Pending, type Template } from './model.ts';
import { AtMost, Payees, PreviewView } from './preview.tsx';

export default function NewMovement() {
  const session = useSession();
  const operator = session.kind === 'open' ? session.key.operator : '';
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const [pending, setPending] = useState<Pending | null>(() => readPending(operator));
  const { template_key, template_version } = search;
  return (
    <>
      <h1>New movement</h1>
      {pending !== null && (
        <InDoubt
          pending={pending}
          onKnown={() => {
            keepPending(null);
            setPending(null);
          }}
        />
      )}
      {template_key === undefined || template_version === undefined ? (
        <Choose />
      ) : (
        <Chosen
          key={`${template_key}@${template_version}`}
          {...{ template_key, template_version, chosen: search, operator }}
          blocked={pending === null ? null : 'First look at the create above.'}
          // A sheet that was closed before its outcome was known continues in the notice above.
          onClosed={() => setPending(readPending(operator))}
        />
      )}
    </>
  );
}

const FILTERS: readonly Filter[] = [{ name: 'template', label: 'Template' }];

/**
 * Lists the templates from which a movement can be made; searched by key, since there may be
 * thousands.
 */
function Choose() {
  const { template } = useFilters(FILTERS);
  const query: QueryOf<'listPlanTemplates'> = {
    status: 'active',
    executable: true,
    limit: 50,
    ...(template === undefined ? {} : { template_key: template }),
  };
  const { rows, query: read } = useRows('listPlanTemplates', { query });
  return (
    <>
      <p>
        Choose a template, or begin with <Link to={'/routes' as never}>a route</Link>.
      </p>
      <Filters filters={FILTERS} />
      <Table
        caption="Templates that can be used"
        rows={rows}
        keyOf={({ template_id }) => template_id}
        query={read}
        none="No active template can be executed."
        columns={[
          { title: 'Template', cell: (row) => <UseTemplate row={row} /> },
          { title: 'Name', cell: ({ name }) => <Text>{name}</Text> },
        ]}
      />
    </>
  );
}

function UseTemplate({ row }: { row: RowOf<'listPlanTemplates'> }) {
  const search = { template_key: row.template_key, template_version: String(row.version) };
  return (
    <Link to={'/new' as never} search={search as never}>
      <Text>{`${row.template_key} version ${String(row.version)}`}</Text>
    </Link>
  );
}

interface ChosenProps {
  readonly template_key: string;
  readonly template_version: string;
  readonly chosen: Readonly<Record<string, string | undefined>>;
  readonly operator: string;
  /** Why the form offers nothing yet; null when it may offer. */
  readonly blocked: string | null;
  readonly onClosed: () => void;
}

function Chosen(props: ChosenProps) {
  const { template_key, template_version } = props;
  const { rows, query } = useRows('listPlanTemplates', { query: { template_key, limit: 200 } });
  const row = rows.find(({ version }) => String(version) === template_version);
  if (row === undefined)
    return (
      <>
        <Problem error={query.error} />
        <p role="status">
          {query.isPending
            ? 'Reading…'
            : `There is no version ${template_version} among the newest 200 of this template.`}
        </p>
      </>
    );
  return <WithTemplate {...props} template_id={row.template_id} />;
}

function WithTemplate({ template_id, ...props }: ChosenProps & { template_id: string }) {
  const read = useRead('getPlanTemplate', { params: { template_id } });
  return <Reading of={read}>{(template) => <Fill {...props} template={template} />}</Reading>;
}

function Fill({
  template,
  chosen,
  operator,
  blocked,
  onClosed,
}: Omit<ChosenProps, 'template_key' | 'template_version'> & { template: Template }) {
  // A template version never changes, so its fields stay the same.
  const [entries] = useState(() => entriesOf(template, chosen));
  const [values, setValues] = useState<Values>(() => initialValues(entries));
  const [key, setKey] = useState(() => randomHex(16));
  const [preview, setPreview] = useState<{ answer: Preview; body: Pending['body'] } | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  // The sheet stays open after its movement was created, while the form is already for the next
  // one.
  const [sheet, setSheet] = useState<{ preview: Preview; pending: Pending } | null>(null);
  const role = useRole();
  const reading = readForm(entries, values);
  const body = reading.ok ? createBody(template, reading.body) : null;
  const refusal = roleRefusal(role, 'createMovement') ?? blocked;
  const look = async (): Promise<void> => {
    if (body === null) return;
    setBusy(true);
    setProblem(null);
    try {
      setPreview({ answer: await previewOf({ key, body }), body });
    } catch (error) {
      setPreview(null);
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const isCurrent = isOf(preview, body);
  return (
    <>
      <Section title="Template">
        <p>
          <Text>{`${template.template_key} version ${String(template.version)}: ${template.name}`}</Text>
          . <Link to={`/templates/${template.template_id}` as never}>Its graph</Link>,{' '}
          <Link to={'/new' as never}>another template</Link>
        </p>
        {template.nodes.map((node) => (
          <div key={node.node_key}>
            <h3>
              <Text>{node.node_key}</Text>{' '}
              <span className="small">
                <Text>{`${node.action_type} (${node.node_kind})`}</Text>
              </span>
            </h3>
            {node.config !== null && <AllFields of={node.config} />}
          </div>
        ))}
      </Section>
      <Section title="What it is to do">
        <form
          className="decision"
          onSubmit={(event) => {
            event.preventDefault();
            void look();
          }}
        >
          <FormEntries entries={entries} values={values} onChange={setValues} />
        </form>
      </Section>
      <div className="actions">
        <Button
          onClick={() => void look()}
          disabledBecause={refusal ?? (isBusy ? 'Asking…' : reading.ok ? null : reading.problem)}
        >
          Preview
        </Button>
        <Button
          kind="main"
          onClick={() =>
            preview !== null &&
            setSheet({ preview: preview.answer, pending: { operator, key, body: preview.body } })
          }
          disabledBecause={
            refusal ??
            (isCurrent
              ? preview?.answer.would_create === true
                ? null
                : 'The service would refuse it.'
              : 'Look at the preview of what is filled in first.')
          }
        >
          Create…
        </Button>
      </div>
      <Problem error={problem} />
      {preview !== null && !isCurrent && (
        <p className="notice">The preview is of what was filled in before.</p>
      )}
      {preview !== null && <PreviewView preview={preview.answer} />}
      {sheet !== null && (
        <CreateSheet
          {...sheet}
          onClose={() => {
            setSheet(null);
            onClosed();
          }}
          onDone={() => {
            // The next create request is for another movement, so it gets a new key.
            setKey(randomHex(16));
            setPreview(null);
          }}
        />
      )}
    </>
  );
}

const NOT_TAKEN =
  'The answer was lost, and the service has not taken it so far. It can be sent again: with the same key it makes no second movement.';

/** The sheet that signs the create request; it shows exactly what the preview showed. */
function CreateSheet({
  preview,
  pending,
  onClose,
  onDone,
}: {
  preview: Preview;
  pending: Pending;
  onClose: () => void;
  onDone: () => void;
}) {
  const { key, body } = pending;
  const made = (movement_id: string, warning: string | null) => {
    keepPending(null);
    onDone();
    return { movement_id, warning };
  };
  return (
    <SignedSheet<ReturnType<typeof made>>
      title="Create the movement?"
      onClose={onClose}
      blocked={null}
      signs={signsOf('createMovement', { body: { ...body, idempotency_key: key } })}
      send={async () => {
        keepPending(pending);
        try {
          const { movement_id, compiled_plan_hash: hash } = await create({ key, body });
          return made(
            movement_id,
            hash === preview.compiled_plan_hash
              ? null
              : `Its plan has the hash ${hash}, which is not that of the preview: look at it before you approve it.`,
          );
        } catch (error) {
          if (afterFailure(error).kind !== 'look_first') keepPending(null);
          throw error;
        }
      }}
      look={async () => {
        const id = madeAlready(await previewOf({ key, body }));
        // A movement that is not found may still appear, so the outcome stays unknown until the
        // create request is sent again.
        return id === null ? null : made(id, null);
      }}
      again={NOT_TAKEN}
      done={({ movement_id, warning }) => (
        <>
          <p>
            The movement is made: <MovementLink id={movement_id} />
          </p>
          {warning !== null && <p className="warning">{warning}</p>}
        </>
      )}
    >
      <p>It moves nothing before it is approved.</p>
      <AtMost preview={preview} />
      <Payees preview={preview} />
    </SignedSheet>
  );
}

/**
 * Looks for the movement of an earlier create request whose response was never received, and shows
 * the result.
 */
function InDoubt({ pending, onKnown }: { pending: Pending; onKnown: () => void }) {
  const [found, setFound] = useState<string | null | undefined>(undefined);
  const [problem, setProblem] = useState<unknown>(null);
  const look = useCallback(async (): Promise<void> => {
    setProblem(null);
    try {
      setFound(madeAlready(await previewOf(pending)));
    } catch (error) {
      setProblem(error);
    }
  }, [pending]);
  useEffect(() => {
    void look();
  }, [look]);
  return (
    <div role="status" className="notice">
      <p>
        <strong>A create was sent from this tab, and its answer was not seen.</strong>
      </p>
      <Problem error={problem} />
      {found === undefined ? (
        <p>It is being looked for.</p>
      ) : found === null ? (
        <p>The service has not taken it so far. Look again before you make another.</p>
      ) : (
        <p>
          It made <MovementLink id={found} />
        </p>
      )}
      <Signed
        {...signsOf('createMovement', {
          body: { ...pending.body, idempotency_key: pending.key },
        })}
      />
      <Button onClick={() => void look()}>Look again</Button>{' '}
      <Button
        onClick={onKnown}
        disabledBecause={found === undefined ? 'It is not known yet.' : null}
      >
        I have seen it
      </Button>
    </div>
  );
}
