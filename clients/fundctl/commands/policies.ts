/** `fundctl policies`: which movements are approved without a person. */
import type { Group, OptionValues } from '../../command-line/command.ts';
import { usageError } from '../../command-line/exit.ts';
import { operation } from '../../command-line/operation.ts';
import { amount, choice, file, flag, many, text, whole } from '../../command-line/options.ts';
import { defined } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { state } from '../../command-line/view.ts';
import { jsonFile, templateRef } from '../../command-line/words.ts';
import type { BodyOf, ResultOf } from '../../http/operations.ts';

type Policy = ResultOf<'getAutoApprovePolicy'>;
const POLICY = { policyId: 'id of the policy' };
const WITHOUT_A_PERSON = 'Movements within this are approved without a person. Go on?';

const LIMITS = {
  active: choice(['true', 'false'], 'whether it decides'),
  allowTemplate: many('key[@version]', 'a template that it approves'),
  allowAsset: many('asset', 'an asset that it approves'),
  maxAmount: amount('the most of one movement'),
  windowHours: whole('hours', 'the rolling window of the two caps'),
  maxAmountPerWindow: amount('the most in a window'),
  maxCountPerWindow: whole('n', 'how many in a window'),
  file: file('the request as JSON, - for standard input; options change what it says'),
};

export const policies: Group = {
  name: 'policies',
  about: 'Policies that approve in place of a person',
  commands: [
    operation('listAutoApprovePolicies', {
      name: 'list',
      about: 'List policies',
      show: (session, body) =>
        session.table(body, {
          ID: 'policy_id',
          STRATEGY: 'strategy_id',
          CLIENT: 'client_id',
          STATE: (row) => state(row.is_active ? 'active' : 'disabled'),
          ASSETS: (row) => row.allowed_assets.join(', '),
          'AT MOST': { right: 'max_amount_per_request' },
          WINDOW: windowOf,
        }),
    }),
    operation('getAutoApprovePolicy', {
      name: 'show',
      about: 'Show a policy',
      args: POLICY,
      input: ({ args }) => ({ params: { policy_id: args.policyId } }),
      show: policyText,
    }),
    operation('createAutoApprovePolicy', {
      name: 'create',
      about: 'Let movements of a strategy be approved without a person (admin)',
      examples: [
        'fundctl policies create --client desk --strategy basis --allow-template starter/withdraw-to-treasury@1 --allow-asset USDC --max-amount 500',
      ],
      options: {
        client: text('client-id', 'whose keys create them; keys whoami tells it'),
        strategy: text('strategy-id', 'of which strategy'),
        ...LIMITS,
      },
      ask: WITHOUT_A_PERSON,
      input: async ({ session, options }) => {
        const body = {
          ...(await limitsOf(session, options)),
          ...defined({ client_id: options.client, strategy_id: options.strategy }),
        };
        return { body: body as BodyOf<'createAutoApprovePolicy'> };
      },
      show: policyText,
    }),
    operation('updateAutoApprovePolicy', {
      name: 'update',
      about: 'Change a policy; what is left out stays as it is (admin)',
      examples: ['fundctl policies update 01980c1e-7a3b-7c3e-9d5f-2b1a6c4e8f01 --max-amount 250'],
      args: POLICY,
      options: { ...LIMITS, clearLimits: flag('take away every cap that is left out') },
      ask: WITHOUT_A_PERSON,
      what: (_, { params, body }) => ({ ...params, ...body }),
      input: async ({ session, args, options }) => {
        const cleared = options.clearLimits ? NO_LIMITS : {};
        const body = { ...cleared, ...(await limitsOf(session, options)) };
        if (Object.keys(body).length === 0) throw usageError('No change was requested.');
        return {
          params: { policy_id: args.policyId },
          body: body as BodyOf<'updateAutoApprovePolicy'>,
        };
      },
      show: policyText,
    }),
  ],
};

const NO_LIMITS = {
  max_amount_per_request: null,
  window_hours: null,
  max_amount_per_window: null,
  max_count_per_window: null,
};

async function limitsOf(session: Session, options: OptionValues<typeof LIMITS>) {
  const base = options.file === undefined ? {} : await jsonFile(session.io, options.file);
  const templates = options.allowTemplate.map((each) => {
    const { key, version = null } = templateRef(each);
    return { template_key: key, template_version: version };
  });
  return {
    ...base,
    ...defined({
      is_active: options.active === undefined ? undefined : options.active === 'true',
      allowed_templates: templates.length === 0 ? undefined : templates,
      allowed_assets: options.allowAsset.length === 0 ? undefined : options.allowAsset,
      max_amount_per_request: options.maxAmount,
      window_hours: options.windowHours,
      max_amount_per_window: options.maxAmountPerWindow,
      max_count_per_window: options.maxCountPerWindow,
    }),
  };
}

function policyText({ view }: Session, policy: Policy): string {
  return view.fields(policy, {
    policy: 'policy_id',
    state: () => state(policy.is_active ? 'active' : 'disabled'),
    client: 'client_id',
    strategy: 'strategy_id',
    templates: () => templatesOf(policy),
    assets: () => policy.allowed_assets.join(', ') || 'none',
    'one movement': 'max_amount_per_request',
    window: () => windowOf(policy),
    created: { when: 'created_at' },
    updated: { when: 'updated_at' },
  });
}

function templatesOf({ allowed_templates: allowed }: Policy): string {
  const names = allowed.map(
    ({ template_key, template_version: version }) =>
      `${template_key}${version === null ? '' : `@${String(version)}`}`,
  );
  return names.join(', ') || 'none';
}

function windowOf(policy: Policy): string {
  if (policy.window_hours === null) return '';
  const caps = [
    policy.max_amount_per_window,
    policy.max_count_per_window === null
      ? null
      : `${String(policy.max_count_per_window)} movements`,
  ];
  return `${caps.filter((cap) => cap !== null).join(', ')} in ${String(policy.window_hours)}h`;
}
