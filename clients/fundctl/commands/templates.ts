/** `fundctl templates`: the plan templates from which movements are created. */
import { TEMPLATE_STATUSES } from '../../../domain/states/template-version.ts';
import type { JsonSchema } from '../../command-line/command.ts';
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { drawGraph } from '../../command-line/graph.ts';
import { operation, YES, type With } from '../../command-line/operation.ts';
import { amount, choice, file, flag, required, text } from '../../command-line/options.ts';
import { defined, listing } from '../../command-line/paging.ts';
import { usageError } from '../../command-line/exit.ts';
import { printableLines } from '../../command-line/printable.ts';
import type { Session } from '../../command-line/session.ts';
import type { Columns } from '../../command-line/columns.ts';
import { state } from '../../command-line/view.ts';
import { failure, jsonFile, templateRef, when } from '../../command-line/words.ts';
import type { BodyOf, ResultOf, RowOf } from '../../http/operations.ts';
import { REASON } from '../shared.ts';

const COLUMNS: Columns<RowOf<'listPlanTemplates'>> = {
  TEMPLATE: (row) => `${row.template_key}@${String(row.version)}`,
  NAME: 'name',
  SHAPE: 'graph_shape',
  EXECUTABLE: (row) => (row.executable_in_v3_0 ? 'yes' : { text: 'no', tone: 'bad' }),
  STATUS: { state: 'status' },
  AGE: { age: 'created_at' },
  ID: 'template_id',
};

const TEMPLATE = {
  template: 'its id, or <key>, or <key>@<version>; a key alone is its newest active version',
};

const VALIDATION: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['valid', 'executable', 'graph_shape', 'issues', 'problems', 'non_executable_reasons'],
  properties: {
    valid: { type: 'boolean', description: 'The service would store it.' },
    executable: { type: 'boolean', description: 'Movements of it could be made.' },
    graph_shape: { type: ['string', 'null'] },
    issues: { type: 'array', items: { type: 'object' } },
    problems: { type: 'array', items: { type: 'object' } },
    non_executable_reasons: { type: 'array', items: { type: 'string' } },
  },
};

export const templates: Group = {
  name: 'templates',
  about: 'Plan templates: validate, create, list, show, draw, retire',
  commands: [
    listing('listPlanTemplates', {
      name: 'list',
      about: 'List template versions, newest first',
      options: {
        key: text('template-key', 'only versions of this key'),
        executable: choice(['true', 'false'], 'only those that can, or cannot, be executed'),
        status: choice(TEMPLATE_STATUSES, 'only these'),
      },
      query: ({ key, executable, status }) => ({
        template_key: key,
        status,
        executable: booleanOf(executable),
      }),
      columns: COLUMNS,
    }),
    operation('getPlanTemplate', {
      name: 'show',
      about: 'Show a template version with its nodes and edges',
      args: TEMPLATE,
      input: ofTemplate,
      show: shown,
    }),
    command({
      name: 'graph',
      about: 'Draw the plan of a template version',
      args: TEMPLATE,
      options: {
        format: choice(['text', 'mermaid'], 'how it is drawn: text, or a Mermaid flowchart'),
      },
      answer: answerOf('getPlanTemplateGraph'),
      run: async ({ session, args, options }) => {
        const client = await session.client();
        const { params } = await ofTemplate({ session, args });
        if (options.format === 'mermaid' && !session.json) {
          const query = { format: 'mermaid' } as const;
          const drawn = await client.call('getPlanTemplateGraph', { params, query });
          session.io.out(printableLines(drawn));
          return;
        }
        const body = await client.call('getPlanTemplateGraph', { params });
        await session.print(body, () => session.graph(drawGraph(withoutStates(body))));
      },
    }),
    command({
      name: 'validate',
      about: 'Check a template file without asking the service',
      details:
        'By the rules by which the service checks: the shape of the request, the graph, and whether this release can execute it. Ends with 1 where the service would refuse to store it, or to make movements of it.',
      examples: [
        'fundctl templates validate plan.json',
        'cat plan.json | fundctl templates validate -',
      ],
      args: { file: 'a JSON file, - for standard input' },
      answer: { schema: VALIDATION },
      run: async ({ session, args }) => {
        const template = await jsonFile(session.io, args.file);
        const { validateTemplate } = await import('../validate.ts');
        const result = validateTemplate(template);
        await session.print(result, () => validation(session, result));
        if (!result.valid) throw failure(`${args.file} would be refused.`);
        if (!result.executable)
          throw failure(`${args.file} would be stored, but no movement could be made of it.`);
      },
    }),
    operation('createPlanTemplate', {
      name: 'create',
      about: 'Register a template version (admin)',
      options: { file: required(file('the request as JSON, - for standard input')) },
      input: async ({ session, options }) => ({
        body: (await jsonFile(session.io, options.file)) as BodyOf<'createPlanTemplate'>,
      }),
      show: created,
    }),
    command({
      name: 'retire',
      about: 'Take a template version out of use, for good (admin)',
      details:
        'No new movement uses it; its movements go on. Whoever may register versions may register the same plan anew.',
      examples: [
        'fundctl templates retire treasury/checked-transfer@1 --reason "pays the old treasury"',
      ],
      args: { template: 'its id, or <key>@<version>' },
      options: { ...REASON, ...YES },
      answer: answerOf('retirePlanTemplate'),
      run: async ({ session, args, options: { reason, yes } }) => {
        if (!UUID.test(args.template) && templateRef(args.template).version === undefined)
          throw usageError('Name the version: <key>@<version>, or its id.');
        const params = { template_id: await templateId(session, args.template) };
        const found = await session.call('getPlanTemplate', { params });
        await session.confirm('Retire this version?', {
          yes,
          what: session.aside.record([
            ['template', `${found.template_key}@${String(found.version)}`],
            ['name', found.name],
            ['id', found.template_id],
            ['status', state(found.status)],
          ]),
        });
        const answer = await session.call('retirePlanTemplate', { params, body: { reason } });
        await session.print(answer, () => session.view.record(Object.entries(answer)));
      },
    }),
    operation('updatePlanTemplateAdmin', {
      name: 'auto-approve',
      about: 'Let small movements of a template be approved without a person, or stop that (admin)',
      details: 'Of the free edition, by a cap for 24 hours. What is left out stays as it is.',
      args: { templateKey: 'the key, for all its versions' },
      options: {
        enabled: choice(['true', 'false'], 'whether it is on'),
        dailyCapAmount: amount('the most in 24 hours'),
        dailyCapAsset: text('asset', 'of which asset'),
        clearCap: flag('take the cap away'),
      },
      ask: 'Change automatic approval?',
      what: ({ session, args }, { body = {} }) =>
        session.aside.record([
          ['template', args.templateKey],
          ...Object.entries(body).map(([name, value]) => [name, String(value)] as const),
        ]),
      input: ({ args, options }) => {
        const { enabled, dailyCapAmount, dailyCapAsset, clearCap } = options;
        const body = defined({
          auto_approve_enabled: booleanOf(enabled),
          daily_cap_amount: clearCap ? null : dailyCapAmount,
          daily_cap_asset: clearCap ? null : dailyCapAsset,
        });
        if (Object.keys(body).length === 0)
          throw usageError('No change was requested: give --enabled, a cap or --clear-cap.');
        return { params: { template_key: args.templateKey }, body };
      },
      show: ({ view }, answer) => view.record(Object.entries(answer)),
    }),
  ],
};

const booleanOf = (word?: 'true' | 'false') => (word === undefined ? undefined : word === 'true');

async function ofTemplate({ session, args }: With<{ readonly template: string }>) {
  return { params: { template_id: await templateId(session, args.template) } };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the id of a template version; `name` is its id, `key@version`, or a key. */
export async function templateId(session: Session, name: string): Promise<string> {
  return UUID.test(name) ? name : (await templateVersion(session, name)).template_id;
}

/** Returns the named version; for a key alone, the newest active version, else the newest. */
export async function templateVersion(
  session: Session,
  name: string,
): Promise<RowOf<'listPlanTemplates'>> {
  const { key, version } = templateRef(name);
  const client = await session.client();
  let newest: RowOf<'listPlanTemplates'> | undefined;
  for await (const row of client.pages('listPlanTemplates', { query: { template_key: key } })) {
    if (row.version === version) return row;
    if (version === undefined && (newest === undefined || rankOf(row) > rankOf(newest)))
      newest = row;
  }
  if (newest === undefined)
    throw failure(`There is no template ${name}; see fundctl templates list.`);
  return newest;
}

/** Returns a sort rank: active versions rank above retired ones, newer above older. */
function rankOf({ status, version }: RowOf<'listPlanTemplates'>): number {
  return status === 'active' ? version : -1 / version;
}

async function shown(session: Session, body: ResultOf<'getPlanTemplate'>): Promise<string> {
  const { view } = session;
  return [
    view.record([
      ['template', `${body.template_key}@${String(body.version)}`],
      ['name', body.name],
      ['id', body.template_id],
      ['owner', body.owner],
      ['shape', body.graph_shape],
      ['executable', body.executable_in_v3_0 ? 'yes' : body.non_executable_reasons.join(', ')],
      ['completion', body.completion_policy.completion_assurance],
      ['risk controls', JSON.stringify(body.risk_controls)],
      ['automatic approval', body.auto_approve_enabled ? `up to ${capOf(body)}` : 'off'],
      ['created', when(body.created_at)],
      ['status', state(body.status)],
      ['retired', body.retired_at === null ? null : when(body.retired_at)],
      ['because', body.retired_reason],
    ]),
    view.heading('Nodes'),
    await view.table(body.nodes, {
      NODE: 'node_key',
      KIND: 'node_kind',
      ACTION: 'action_type',
      CONFIG: (node) => JSON.stringify(node.config ?? {}),
    }),
    view.heading('Edges'),
    session.graph(
      drawGraph({
        nodes: body.nodes.map(({ node_key }) => ({ node_key, state: '' })),
        edges: body.edges.map((edge) => ({ ...edge, status: 'pending' })),
      }),
    ),
  ].join('');
}

function capOf(body: ResultOf<'getPlanTemplate'>): string {
  return `${body.daily_cap_amount ?? ''} ${body.daily_cap_asset ?? ''} in 24 hours`;
}

function created(session: Session, body: ResultOf<'createPlanTemplate'>): string {
  return session.view.record([
    ['template', `${body.template_key}@${String(body.version)}`],
    ['id', body.template_id],
    ['shape', body.graph_shape],
    [
      'executable',
      body.executable_in_v3_0
        ? state('yes')
        : { text: body.non_executable_reasons.join(', '), tone: 'bad' },
    ],
  ]);
}

function withoutStates(body: ResultOf<'getPlanTemplateGraph'>) {
  return {
    nodes: body.nodes.map(({ node_key }) => ({ node_key, state: '' })),
    edges: body.edges.map((edge) => ({ ...edge, status: 'pending' })),
  };
}

function validation(
  session: Session,
  result: {
    readonly valid: boolean;
    readonly executable: boolean;
    readonly graph_shape: string | null;
    readonly issues: readonly { readonly path: string; readonly message: string }[];
    readonly problems: readonly object[];
    readonly non_executable_reasons: readonly string[];
  },
): string {
  const { view } = session;
  return view.record([
    ['valid', result.valid ? { text: 'yes', tone: 'good' } : { text: 'no', tone: 'bad' }],
    ['executable', result.executable ? { text: 'yes', tone: 'good' } : { text: 'no', tone: 'bad' }],
    ['shape', result.graph_shape],
    ...result.issues.map((issue) => [issue.path || 'template', issue.message] as const),
    ...result.problems.map((problem) => ['problem', JSON.stringify(problem)] as const),
    ...result.non_executable_reasons.map((reason) => ['not executable', reason] as const),
  ]);
}
