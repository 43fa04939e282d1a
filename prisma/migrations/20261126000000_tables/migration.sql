-- Tables of the first release. Amounts are numeric, states are text constrained to their lifecycle,
-- and what must never happen is a constraint rather than a hope.

CREATE TABLE plan_templates (
  template_key         text PRIMARY KEY,
  auto_approve_enabled boolean NOT NULL DEFAULT false,
  daily_cap_amount     numeric(38, 18) CHECK (daily_cap_amount >= 0),
  daily_cap_asset      text,
  created_at           timestamptz NOT NULL,
  updated_at           timestamptz NOT NULL,
  CONSTRAINT plan_templates_caps_complete CHECK (
    NOT auto_approve_enabled OR (daily_cap_amount IS NOT NULL AND daily_cap_asset IS NOT NULL)
  )
);

CREATE TABLE plan_template_versions (
  template_id          uuid PRIMARY KEY,
  template_key         text NOT NULL REFERENCES plan_templates (template_key),
  version              integer NOT NULL CHECK (version >= 1),
  name                 text NOT NULL,
  owner                text,
  graph_shape          text NOT NULL CHECK (
    graph_shape IN ('linear', 'branching', 'merging', 'split', 'hybrid')),
  approval_policy      jsonb NOT NULL,
  risk_controls        jsonb NOT NULL,
  completion_assurance text NOT NULL,
  created_by           text,
  created_at           timestamptz NOT NULL,
  -- Of a retired one nothing new is made. Who retired it is a client, as who created it.
  status               text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'retired')),
  retired_at           timestamptz,
  retired_by           text,
  retired_reason       text,
  CONSTRAINT plan_template_versions_key_version UNIQUE (template_key, version),
  CHECK ((status = 'retired') = (num_nulls(retired_at, retired_reason) = 0)),
  CHECK (status = 'retired' OR num_nonnulls(retired_at, retired_by, retired_reason) = 0)
);

CREATE TABLE plan_nodes (
  id                uuid PRIMARY KEY,
  template_id       uuid NOT NULL REFERENCES plan_template_versions (template_id),
  position          integer NOT NULL,
  node_key          text NOT NULL,
  node_kind         text NOT NULL CHECK (
    node_kind IN ('action', 'observe', 'manual_gate', 'compensation', 'post_action')),
  action_type       text NOT NULL,
  executor_selector jsonb,
  signer_selector   jsonb,
  input_schema      jsonb,
  config            jsonb,
  has_side_effect   boolean NOT NULL,
  timeout_policy    jsonb,
  retry_policy      jsonb,
  risk_patch        jsonb,
  CONSTRAINT plan_nodes_key UNIQUE (template_id, node_key)
);

CREATE TABLE plan_edges (
  id             uuid PRIMARY KEY,
  template_id    uuid NOT NULL REFERENCES plan_template_versions (template_id),
  position       integer NOT NULL,
  from_key       text NOT NULL,
  to_key         text NOT NULL,
  edge_type      text NOT NULL CHECK (
    edge_type IN ('on_success', 'on_failure', 'on_timeout', 'on_cancel', 'on_manual_resume')),
  condition_expr text,
  priority       integer NOT NULL DEFAULT 0,
  join_key       text
);

CREATE INDEX plan_edges_template ON plan_edges (template_id, position);

CREATE TABLE movements (
  movement_id          uuid PRIMARY KEY,
  template_id          uuid NOT NULL REFERENCES plan_template_versions (template_id),
  template_key         text NOT NULL,
  template_version     integer NOT NULL,
  strategy_id          text,
  request_state        text NOT NULL CHECK (
    request_state IN ('PENDING_APPROVAL', 'APPROVED', 'EXECUTING', 'COMPLETED', 'FAILED',
                         'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION', 'REJECTED', 'EXPIRED',
                           'CANCELLED')),
  approval_status      text NOT NULL CHECK (
    approval_status IN ('pending', 'approved', 'rejected', 'expired')),
  reservation_status   text NOT NULL CHECK (
    reservation_status IN ('none', 'held', 'released', 'consumed')),
  version              integer NOT NULL DEFAULT 1,
  next_sequence        integer NOT NULL DEFAULT 1,
  asset                text NOT NULL,
  amount               numeric(38, 18) NOT NULL CHECK (amount > 0),
  intent               jsonb NOT NULL,
  current_frontier     text[] NOT NULL,
  auto_approve_result  jsonb,
  error_code           text,
  error_message        text,
  callback_url         text,
  client_scope         text NOT NULL,
  idempotency_key      text,
  approver_id          text,
  approved_by          text,
  run_id               text,
  expires_at           timestamptz NOT NULL,
  created_at           timestamptz NOT NULL,
  updated_at           timestamptz NOT NULL,
  -- Set while no run is needed; the sweeper looks after every movement where it is null.
  ended_at             timestamptz,
  swept_at             timestamptz,
  -- Results of conditions by the edge's position in the plan: "true", "false" or "error".
  edge_conditions      jsonb NOT NULL DEFAULT '{}',
  -- What its duration is counted from.
  approved_at          timestamptz,
  -- What the plan can move at most, [{"asset", "amount"}]; see domain/plan/flow.ts.
  outflow              jsonb NOT NULL DEFAULT '[]',
  -- What every limit counts in `asset`: the larger of outflow and intent. Null: nothing bounds it.
  limit_amount         numeric(38, 18),
  -- Some node draws from a pool.
  pooled               boolean NOT NULL DEFAULT false,
  -- The authority in whose namespace its template lies; null for a template of nobody's.
  agent                text,
  -- The reason of which a callback was last sent that no change of a state tells (note_attention).
  attention_told       text,
  -- When a person said that they have dealt with its failure; null once it runs again.
  acknowledged_at      timestamptz,
  -- When anything was last written of one that ended and may need a person all the same; else null.
  -- An index of this keeps still while a movement runs, as one of updated_at would not: its row can
  -- then change without any index being written (HOT).
  ended_badly_at       timestamptz GENERATED ALWAYS AS (CASE WHEN ended_at IS NOT NULL
    AND request_state IN ('FAILED', 'CANCELLED') THEN updated_at END) STORED
);

-- What a movement was made of and is approved by. Every transition rewrites the row of movements;
-- these are written once, and nothing changes them.
CREATE TABLE movement_plans (
  movement_id        uuid PRIMARY KEY REFERENCES movements (movement_id),
  compiled_plan_hash text NOT NULL CHECK (compiled_plan_hash ~ '^[0-9a-f]{64}$'),
  -- The compiled plan without its nodes and what stands in columns of its own; compiled_plan_of
  -- puts it together.
  plan_frame         jsonb NOT NULL,
  -- The part of it that every node looks at.
  plan_head          jsonb NOT NULL,
  input_params       jsonb NOT NULL,
  -- How the nodes' draws add up to the outflow; see domain/plan/flow.ts.
  draw_terms         jsonb NOT NULL,
  labels             jsonb NOT NULL,
  -- The request in its normal form, which a repeat is compared with, without what stands above; see
  -- joined_request.
  own_request        jsonb NOT NULL,
  created_by         jsonb NOT NULL
);

-- By whom and for which plan a movement was approved, written in the approving transaction. Nothing
-- is made ready or sent without it; see apply_transition.
CREATE TABLE movement_approvals (
  movement_id uuid PRIMARY KEY REFERENCES movements (movement_id),
  plan_hash   text NOT NULL,
  approved_by text NOT NULL CHECK (approved_by IN ('key', 'auth_off', 'policy', 'template_cap')),
  -- The key's id, the policy's, or the template's key.
  name        text CHECK ((name IS NULL) = (approved_by = 'auth_off')),
  at          timestamptz(3) NOT NULL
);

CREATE UNIQUE INDEX movements_idempotency ON movements (client_scope, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

CREATE INDEX movements_newest ON movements (created_at DESC, movement_id DESC);

CREATE INDEX movements_by_state ON movements (request_state, created_at DESC, movement_id DESC);

-- Those that ended and may need a person all the same, for a while (attention_of).
CREATE INDEX movements_ended_badly ON movements (ended_badly_at)
  INCLUDE (created_at, movement_id, request_state) WHERE ended_badly_at IS NOT NULL;

CREATE INDEX movements_attention_told ON movements (movement_id)
  WHERE attention_told IS NOT NULL AND ended_at IS NULL;

CREATE INDEX movements_by_strategy ON movements (strategy_id, created_at DESC, movement_id DESC)
  WHERE strategy_id IS NOT NULL;

-- What a strategy has under way, newest first.
CREATE INDEX movements_open_of_strategy
  ON movements (strategy_id, created_at DESC, movement_id DESC)
  WHERE ended_at IS NULL AND strategy_id IS NOT NULL;

CREATE INDEX movements_open ON movements (swept_at NULLS FIRST)
  WHERE ended_at IS NULL AND request_state <> 'PENDING_APPROVAL';

CREATE INDEX movements_expiring ON movements (expires_at)
  WHERE request_state = 'PENDING_APPROVAL';

-- What may need a person, newest first.
CREATE INDEX movements_open_newest ON movements (created_at DESC, movement_id DESC)
  WHERE ended_at IS NULL;

CREATE INDEX movements_by_asset ON movements (asset, created_at DESC, movement_id DESC);

-- What an agent may see, newest first.
CREATE INDEX movements_by_agent ON movements (agent, created_at DESC, movement_id DESC)
  WHERE agent IS NOT NULL;

CREATE INDEX movements_by_agent_and_state
  ON movements (agent, request_state, created_at DESC, movement_id DESC) WHERE agent IS NOT NULL;

CREATE INDEX movements_open_by_agent ON movements (agent)
  WHERE agent IS NOT NULL AND ended_at IS NULL;

-- What a movement can move beside its own asset, which is seldom anything.
CREATE TABLE movement_other_assets (
  asset       text NOT NULL,
  created_at  timestamptz NOT NULL,
  movement_id uuid NOT NULL REFERENCES movements (movement_id),
  PRIMARY KEY (asset, created_at, movement_id)
);

-- How many rows are in each state, and what has not been added up yet; see
-- docs/decisions/0067-kept-counts.md.
CREATE TABLE tallies (
  subject text NOT NULL,
  state   text NOT NULL,
  count   bigint NOT NULL,
  PRIMARY KEY (subject, state)
);

CREATE TABLE tally_changes (
  subject text NOT NULL,
  state   text NOT NULL,
  change  integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- How movements of each version ended, by calendar month of UTC, and what has not been added up.
CREATE TABLE route_months (
  month       date NOT NULL,
  template_id uuid NOT NULL,
  completed   bigint NOT NULL,
  failed      bigint NOT NULL,
  -- From approval to end, of those that completed: all together, and the longest.
  seconds     numeric NOT NULL,
  longest     numeric,
  PRIMARY KEY (month, template_id)
);

CREATE TABLE route_changes (
  month       date NOT NULL,
  template_id uuid NOT NULL,
  completed   integer NOT NULL,
  failed      integer NOT NULL,
  seconds     numeric NOT NULL,
  longest     numeric
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

CREATE TABLE movement_nodes (
  movement_id       uuid NOT NULL REFERENCES movements (movement_id),
  node_key          text NOT NULL,
  position          integer NOT NULL,
  node_kind         text NOT NULL,
  action_type       text NOT NULL,
  state             text NOT NULL CHECK (
    state IN ('BLOCKED', 'READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED',
                      'UNKNOWN', 'SKIPPED', 'CANCELLED')),
  attempt           integer NOT NULL DEFAULT 1 CHECK (attempt >= 1),
  executor_binding  jsonb NOT NULL,
  signer_binding    jsonb,
  amount            numeric(38, 18),
  -- What each phase of the present attempt has already recorded; a repeated phase returns it.
  preflight_passed  boolean NOT NULL DEFAULT false,
  prepared_action   jsonb,
  sign_request      jsonb,
  submit_epoch      integer NOT NULL DEFAULT 0 CHECK (submit_epoch >= 0),
  send_not_after    timestamptz,
  -- The earlier send of this attempt must be asked about before anything else.
  recover_first     boolean NOT NULL DEFAULT false,
  -- It came out of a restored database, which may have forgotten sends of it: every new attempt
  -- asks first.
  restored          boolean NOT NULL DEFAULT false,
  resumed           boolean NOT NULL DEFAULT false,
  -- A person had an unknown outcome looked at, and has not retried it: nothing of it is sent.
  only_look         boolean NOT NULL DEFAULT false,
  -- The attempt whose transaction a person has asked to be cancelled.
  cancel_asked      integer,
  error_count       integer NOT NULL DEFAULT 0 CHECK (error_count >= 0),
  -- Looks at what became of it that told nothing, since the last that told something, and when they
  -- began.
  unanswered        integer NOT NULL DEFAULT 0 CHECK (unanswered >= 0),
  unanswered_since  timestamptz,
  -- When it is asked again what became of it, as it was planned at the last look.
  next_look_at      timestamptz,
  -- Questions to a team's own worker that are open, by phase: {"id", "attempt", "epoch", "state"}.
  questions         jsonb,
  -- When it came to its fence while the switch was frozen, and its time stopped.
  frozen_since      timestamptz,
  external_ref      text,
  output            jsonb,
  error_code        text,
  error_message     text,
  started_at        timestamptz,
  submitted_at      timestamptz,
  updated_at        timestamptz NOT NULL,
  completed_at      timestamptz,
  own_plan          jsonb NOT NULL,
  -- Some on_cancel edge leads here: the only lane that goes on in CANCELLED.
  on_cancel_target  boolean NOT NULL DEFAULT false,
  -- Of a bridge's second leg: the node whose funds it brings; it goes on in CANCELLED, too.
  brings            text,
  -- Observed for longer, it needs a person (overdue_at).
  usual_seconds     double precision NOT NULL DEFAULT 3600 CHECK (usual_seconds > 0),
  -- Some edge that leaves here has a condition, so settling the node settles that too.
  conditional       boolean NOT NULL DEFAULT false,
  -- Of a sending node: {"asset", "amount", "from", "pool": {"venue_key", "account_type"}}; amount
  -- null is unknown, `from` the node whose sending it passes on, without which it draws.
  flow              jsonb,
  -- What guards need to know of its action type; see domain/plan/node-facts.ts. Without defaults, so
  -- that no node is made of which nothing is known.
  pays              text NOT NULL CHECK (
    pays IN ('nobody', 'exchange', 'chain', 'spender', 'declared')),
  claims_when       text NOT NULL CHECK (claims_when ~ '^(never|always|output\.[a-z_]+)$'),
  sent_field        text NOT NULL CHECK (sent_field ~ '^[a-z_]+$'),
  tied_by           text NOT NULL CHECK (tied_by IN ('nothing', 'perp_master', 'allowance')),
  may_send          boolean NOT NULL,
  CHECK (may_send OR flow IS NULL),
  PRIMARY KEY (movement_id, node_key)
);

CREATE INDEX movement_nodes_unknown ON movement_nodes (movement_id, node_key, attempt)
  WHERE state = 'UNKNOWN';

-- Deposits at the perps venue that may still arrive, of which there are few.
CREATE INDEX movement_nodes_perp_deposits ON movement_nodes (movement_id)
  WHERE action_type = 'perp_deposit'
    AND (state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN') OR recover_first);

-- What was deposited there since a time, also where it has arrived.
CREATE INDEX movement_nodes_perp_credited ON movement_nodes (completed_at)
  WHERE action_type = 'perp_deposit' AND state = 'COMPLETED';

-- Nodes that wait for a payment to an address, of which there are few.
CREATE INDEX movement_nodes_await_payments ON movement_nodes ((output -> 'awaits' ->> 'place'))
  WHERE state = 'OBSERVING' AND (output -> 'awaits' ->> 'place') IS NOT NULL;

-- Burns that may be minted by a transaction that a person names, of which there are few.
CREATE INDEX movement_nodes_open_burns ON movement_nodes (movement_id)
  WHERE claims_when = 'output.attested_message'
    AND (state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN') OR recover_first);

CREATE INDEX movement_nodes_unanswered ON movement_nodes (unanswered_since)
  WHERE unanswered_since IS NOT NULL;

-- One row for each attempt that passed the fence, with the key under which its effect is known.
CREATE TABLE node_attempts (
  idempotency_key text PRIMARY KEY,
  movement_id     uuid NOT NULL,
  node_key        text NOT NULL,
  attempt         integer NOT NULL,
  external_ref    text,
  outcome         text CHECK (outcome IN ('COMPLETED', 'FAILED')),
  error_code      text,
  started_at      timestamptz NOT NULL,
  ended_at        timestamptz,
  FOREIGN KEY (movement_id, node_key) REFERENCES movement_nodes (movement_id, node_key),
  CONSTRAINT node_attempts_once UNIQUE (movement_id, node_key, attempt)
);

CREATE UNIQUE INDEX node_attempts_one_active ON node_attempts (movement_id, node_key)
  WHERE ended_at IS NULL;

CREATE TABLE artifacts (
  artifact_id uuid PRIMARY KEY,
  movement_id uuid NOT NULL REFERENCES movements (movement_id),
  node_key    text NOT NULL,
  attempt     integer NOT NULL,
  kind        text NOT NULL,
  data        jsonb NOT NULL,
  created_at  timestamptz NOT NULL
);

CREATE INDEX artifacts_movement ON artifacts (movement_id, created_at);

CREATE TABLE timeline_events (
  event_id    uuid PRIMARY KEY,
  movement_id uuid NOT NULL REFERENCES movements (movement_id),
  sequence    integer NOT NULL,
  event_type  text NOT NULL,
  node_key    text,
  attempt     integer,
  from_state  text,
  to_state    text,
  actor       jsonb NOT NULL,
  message     text NOT NULL,
  data        jsonb NOT NULL,
  occurred_at timestamptz NOT NULL,
  CONSTRAINT timeline_events_sequence UNIQUE (movement_id, sequence)
);

CREATE TABLE callbacks (
  event_id        uuid PRIMARY KEY,
  -- Null for one of a capital transfer.
  movement_id     uuid REFERENCES movements (movement_id),
  event_type      text NOT NULL,
  sequence        integer NOT NULL,
  url             text NOT NULL,
  payload         text NOT NULL,
  nonce           text NOT NULL UNIQUE,
  status          text NOT NULL CHECK (status IN ('pending', 'delivered', 'dead_letter')),
  attempts        integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL,
  claimed_until   timestamptz,
  last_error      text,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  CONSTRAINT callbacks_sequence UNIQUE (movement_id, sequence)
);

CREATE INDEX callbacks_due ON callbacks (next_attempt_at) WHERE status = 'pending';

-- A command says "look at the database"; it stays until the workflow has looked.
CREATE TABLE commands (
  command_id    uuid PRIMARY KEY,
  movement_id   uuid NOT NULL REFERENCES movements (movement_id),
  kind          text NOT NULL,
  created_at    timestamptz NOT NULL,
  applied_at    timestamptz,
  claimed_until timestamptz NOT NULL,
  wakes         integer NOT NULL DEFAULT 0
);

CREATE INDEX movement_nodes_frozen ON movement_nodes (movement_id) WHERE frozen_since IS NOT NULL;

CREATE INDEX commands_unapplied ON commands (movement_id, created_at) WHERE applied_at IS NULL;

-- Only the claim says that wakes are not negative, so nothing else is read from here: an earlier
-- command of a movement looked for in this one would be looked for among all that are due.
CREATE INDEX commands_due ON commands (claimed_until) WHERE applied_at IS NULL AND wakes >= 0;

-- What one process at a time does now and then: whoever moves `due_at` on has its turn.
CREATE TABLE turns (
  name   text PRIMARY KEY,
  turn   bigint NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO turns (name) VALUES ('sweep_waiting');

-- What one process at a time does for all, for as long as it renews its lease.
CREATE TABLE leases (
  name    text PRIMARY KEY,
  holder  text NOT NULL,
  ends_at timestamptz NOT NULL
);

-- What an API process without signers and venue credentials has a worker look at for it. A row lives
-- as long as its request waits, a minute at most.
CREATE TABLE requested_looks (
  look_id      uuid PRIMARY KEY,
  kind         text NOT NULL CHECK (kind IN ('signer_identity', 'balances')),
  -- The signer's key, or the venue's.
  subject      text NOT NULL,
  requested_at timestamptz NOT NULL,
  -- A worker looks until then; after it another one may.
  taken_until  timestamptz NOT NULL,
  answer       jsonb
);

CREATE TABLE reservation_pools (
  venue_key    text NOT NULL,
  account_type text NOT NULL,
  asset        text NOT NULL,
  -- Adds up amounts that may each have all digits of the contract, so it has room for any sum of
  -- them.
  held         numeric NOT NULL DEFAULT 0 CONSTRAINT reservation_pools_held_not_negative CHECK (
    held >= 0),
  PRIMARY KEY (venue_key, account_type, asset)
);

-- One row: whether new money is let in, and sends begin.
CREATE TABLE cutover (
  id            integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  mode          text NOT NULL CHECK (mode IN ('normal', 'drain', 'frozen')),
  previous_mode text,
  reason        text,
  changed_at    timestamptz,
  changed_by    jsonb
);

INSERT INTO cutover (mode) VALUES ('normal');

CREATE TABLE executors (
  executor_key      text PRIMARY KEY,
  kind              text NOT NULL CHECK (kind IN ('local', 'remote', 'task_queue')),
  status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  action_types      text[] NOT NULL,
  provider          text,
  chain_family      text,
  endpoint          text,
  health_state      text NOT NULL DEFAULT 'unknown' CHECK (
    health_state IN ('up', 'down', 'unknown')),
  health_checked_at timestamptz,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL
);

CREATE TABLE signers (
  signer_key              text PRIMARY KEY,
  status                  text NOT NULL DEFAULT 'active' CHECK (
    status IN ('active', 'disabled', 'deprecated', 'retired')),
  backend                 text NOT NULL,
  chain_family            text NOT NULL,
  profile                 text,
  expected_signer_address text,
  observed_signer_address text,
  observed_at             timestamptz,
  -- Who signs in its place since it was rotated, and every address it was known by then.
  replaced_by             text REFERENCES signers (signer_key),
  known_addresses         text[] NOT NULL DEFAULT '{}',
  created_at              timestamptz NOT NULL,
  updated_at              timestamptz NOT NULL
);

-- What was done about a signer or looked up of it, in the order in which it was; never changed.
CREATE TABLE signer_events (
  event_id       uuid PRIMARY KEY,
  signer_key     text NOT NULL REFERENCES signers (signer_key),
  -- The replacement of a rotation.
  other_key      text REFERENCES signers (signer_key),
  event_type     text NOT NULL CHECK (event_type IN ('rotation_drilled', 'rotated', 'inventory',
    'allowances', 'retirement_denied', 'retired')),
  reason         text,
  data           jsonb NOT NULL,
  done_by        jsonb NOT NULL,
  audit_event_id uuid,
  occurred_at    timestamptz NOT NULL
);

CREATE INDEX signer_events_signer ON signer_events (signer_key, occurred_at);

CREATE INDEX signer_events_other ON signer_events (other_key, occurred_at)
  WHERE other_key IS NOT NULL;

-- Restores of the database after which everything open was asked about first, by the name that an
-- operator gave each.
CREATE TABLE restores (
  incident text PRIMARY KEY,
  at       timestamptz NOT NULL,
  result   jsonb NOT NULL DEFAULT '{}'
);

-- The next nonce of an account on a chain; the row is the lock that orders everything the account
-- sends.
CREATE TABLE nonce_lanes (
  chain_id   bigint NOT NULL,
  address    text NOT NULL,
  next_nonce bigint NOT NULL CHECK (next_nonce >= 0),
  -- Who signs for it, as of its latest claim.
  signer_key text,
  -- Set by a restore: from here on the account may have used nonces that this database does not
  -- know of.
  unproven_from bigint,
  -- What the chain was last seen to count of the account's transactions, in its newest block and in
  -- its newest final one; for people, never for a decision.
  mined_count   bigint,
  final_count   bigint,
  seen_at       timestamptz,
  -- One process at a time looks after the lane.
  tended_until  timestamptz,
  -- The lowest nonce that is to be used up by a transaction that moves nothing and that cannot be
  -- signed or paid for, why, and since when.
  stuck_nonce   bigint,
  stuck_why     text,
  stuck_since   timestamptz,
  -- What a person let transactions of this lane cost beyond the caps of its chain, why, and until
  -- when.
  cap_raise        jsonb,
  cap_raised_until timestamptz,
  PRIMARY KEY (chain_id, address),
  CHECK ((cap_raise IS NULL) = (cap_raised_until IS NULL)),
  CHECK ((stuck_nonce IS NULL) = (stuck_why IS NULL)),
  CHECK ((stuck_nonce IS NULL) = (stuck_since IS NULL))
);

CREATE TABLE evm_transactions (
  transaction_id uuid PRIMARY KEY,
  chain_id       bigint NOT NULL,
  address        text NOT NULL,
  nonce          bigint NOT NULL CHECK (nonce >= 0),
  signer_key     text NOT NULL,
  -- Null: no node's, it fills a gap in the lane.
  movement_id    uuid REFERENCES movements (movement_id),
  node_key       text,
  attempt        integer,
  -- `cancel` moves nothing: the account pays itself nothing, so that the nonce is used.
  kind           text NOT NULL DEFAULT 'payment' CHECK (kind IN ('payment', 'cancel')),
  -- The claim whose nonce this later version takes as well; null for the claim itself.
  replaces       uuid REFERENCES evm_transactions (transaction_id),
  unsigned       jsonb NOT NULL,
  raw_tx         text,
  tx_hash        text,
  created_at     timestamptz NOT NULL,
  -- Set when another, finalized transaction used the nonce: the claim is over, nothing of ours
  -- landed.
  released_at    timestamptz,
  -- Of a claim: when a final block was seen to have used the nonce, and the hash of the version
  -- that did; null where none of ours did.
  final_at       timestamptz,
  mined_hash     text,
  -- When a node that had ended lost its block again.
  reorged_at     timestamptz,
  -- When something outside was first known to have taken these bytes: an endpoint answered so, or
  -- the chain shows them. Until then every stop holds them back.
  accepted_at    timestamptz,
  CONSTRAINT evm_transactions_signed CHECK ((raw_tx IS NULL) = (tx_hash IS NULL)),
  CONSTRAINT evm_transactions_owner CHECK ((movement_id IS NULL) = (node_key IS NULL)
    AND (movement_id IS NULL) = (attempt IS NULL) AND (movement_id IS NOT NULL OR kind = 'cancel')),
  CONSTRAINT evm_transactions_version CHECK (replaces IS NULL OR raw_tx IS NOT NULL)
);

-- What was signed for an attempt as an authorization (EIP-3009): its nonce is nobody else's, ever.
CREATE TABLE authorizations (
  chain_id    bigint NOT NULL,
  token       text NOT NULL,
  address     text NOT NULL,
  nonce       text NOT NULL,
  movement_id uuid NOT NULL REFERENCES movements (movement_id),
  node_key    text NOT NULL,
  attempt     integer NOT NULL,
  created_at  timestamptz NOT NULL,
  -- The transaction that used it, once that was seen in a final block.
  mined_hash  text,
  PRIMARY KEY (chain_id, token, address, nonce)
);

CREATE INDEX authorizations_of ON authorizations (movement_id, node_key, attempt);

-- What has arrived for some node: a message of a bridge, its delivery, a payment (domain/claims.ts).
-- `claimed` is the sum of its claims, which never is more than there is. A chain's own coin at an
-- address has no amount: what came of it is told between two blocks.
CREATE TABLE payments (
  source     text NOT NULL,
  reference  text NOT NULL,
  amount     numeric CHECK (amount > 0),
  claimed    numeric NOT NULL DEFAULT 0 CHECK (claimed >= 0 AND claimed <= amount),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (source, reference)
);

-- Which node was completed with it. A claim is the node's and not its attempt's: an attempt that
-- failed has brought nothing.
CREATE TABLE payment_claims (
  source      text NOT NULL,
  reference   text NOT NULL,
  movement_id uuid NOT NULL REFERENCES movements (movement_id),
  node_key    text NOT NULL,
  amount      numeric NOT NULL CHECK (amount > 0),
  -- Of a chain's own coin: the block in which its balance was read.
  until_block numeric,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (source, reference, movement_id, node_key),
  FOREIGN KEY (source, reference) REFERENCES payments (source, reference)
);

CREATE INDEX payment_claims_of ON payment_claims (movement_id, node_key);

-- The account on the perps venue that everything is paid out of, and who signs for it.
CREATE TABLE perp_master (
  id             integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  master_address text NOT NULL,
  signer_key     text NOT NULL,
  -- In lower case, as callers write it.
  network        text NOT NULL CHECK (network IN ('mainnet', 'testnet')),
  label          text,
  created_at     timestamptz NOT NULL
);

-- What a strategy has on the perps venue.
CREATE TABLE perp_bindings (
  strategy_id         text PRIMARY KEY,
  sub_account_address text UNIQUE,
  max_agent_balance   numeric(38, 18),
  paused              boolean NOT NULL DEFAULT false,
  pause_reason        text,
  paused_changed_at   timestamptz,
  created_at          timestamptz NOT NULL,
  updated_at          timestamptz NOT NULL
);

-- Who may sign orders for a strategy. An address is one wallet's for good: the venue forgets what an
-- address has signed once it is no agent any more.
CREATE TABLE perp_agent_wallets (
  wallet_id    uuid PRIMARY KEY,
  strategy_id  text NOT NULL REFERENCES perp_bindings (strategy_id),
  agent_name   text NOT NULL,
  signer_key   text NOT NULL,
  address      text NOT NULL UNIQUE,
  valid_until  timestamptz NOT NULL,
  state        text NOT NULL CHECK (
    state IN ('pending', 'active', 'expired', 'replaced', 'refused')),
  last_error   text,
  next_look_at timestamptz,
  -- When the venue first said that the nonce of its approval is used.
  nonce_used_at timestamptz,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  approved_at  timestamptz
);

-- Names are the master's on the venue, whichever strategy they are for. A name may have one that is
-- to take the place of another beside that one.
CREATE UNIQUE INDEX perp_agent_wallets_name ON perp_agent_wallets (agent_name, state)
  WHERE state IN ('pending', 'active');

CREATE INDEX perp_agent_wallets_of
  ON perp_agent_wallets (strategy_id, created_at DESC, wallet_id DESC);

CREATE INDEX perp_agent_wallets_due ON perp_agent_wallets (next_look_at)
  WHERE next_look_at IS NOT NULL;

-- What an account of the perps venue had when the venue was last heard of it.
CREATE TABLE perp_accounts (
  address        text PRIMARY KEY,
  withdrawable   numeric(38, 18) NOT NULL,
  account_value  numeric(38, 18) NOT NULL,
  open_positions integer NOT NULL,
  -- When it was asked: what it told is not older.
  checked_at     timestamptz NOT NULL
);

-- The newest nonce that each signer of the perps venue was given.
CREATE TABLE perp_lanes (
  address    text PRIMARY KEY,
  last_nonce bigint NOT NULL
);

-- What is signed for the perps venue: a nonce is one action's, and what was signed with it is the
-- only thing that is ever sent with it.
CREATE TABLE perp_actions (
  address     text NOT NULL,
  nonce       bigint NOT NULL,
  movement_id uuid REFERENCES movements (movement_id),
  node_key    text,
  attempt     integer,
  wallet_id   uuid REFERENCES perp_agent_wallets (wallet_id),
  signature   text,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (address, nonce),
  CONSTRAINT perp_actions_owner CHECK ((movement_id IS NULL) = (node_key IS NULL)
    AND (movement_id IS NULL) = (attempt IS NULL) AND (movement_id IS NULL) <> (wallet_id IS NULL))
);

CREATE UNIQUE INDEX perp_actions_node ON perp_actions (movement_id, node_key, attempt);

CREATE UNIQUE INDEX perp_actions_wallet ON perp_actions (wallet_id);

CREATE UNIQUE INDEX evm_transactions_nonce ON evm_transactions (chain_id, address, nonce)
  WHERE released_at IS NULL AND replaces IS NULL;

-- The claims that no final block has settled, which are few of all that a lane ever made.
CREATE INDEX evm_transactions_open ON evm_transactions (chain_id, address, nonce)
  WHERE released_at IS NULL AND replaces IS NULL AND final_at IS NULL;

-- The allowances of a lane: what a later one has made of an earlier one.
CREATE INDEX evm_transactions_allowances ON evm_transactions (chain_id, address, nonce)
  WHERE lower(left(unsigned ->> 'data', 10)) = '0x095ea7b3';

CREATE INDEX evm_transactions_versions ON evm_transactions (replaces) WHERE replaces IS NOT NULL;

CREATE INDEX evm_transactions_node ON evm_transactions (movement_id, node_key, attempt);

CREATE TABLE audit_events (
  event_id        uuid PRIMARY KEY,
  -- Whole milliseconds, as svc_now() gives them and as the API shows them: what is sealed is all
  -- there is.
  occurred_at     timestamptz(3) NOT NULL,
  actor_client_id text,
  actor_key_id    text,
  actor_role      text,
  namespace       text,
  action          text NOT NULL,
  entity_type     text NOT NULL,
  entity_key      text NOT NULL,
  outcome         text NOT NULL CHECK (outcome IN ('success', 'denied', 'failed')),
  request_id      text,
  reason          text,
  details         jsonb NOT NULL,
  -- HMAC over what the writing process knew, under a key that the database never sees. Null without
  -- a key.
  mac             bytea,
  -- True of what was done to the registries (REGISTRY_ENTITIES of domain/audit.ts), else null: a
  -- value that an index can be partial by, however a statement is planned.
  registry        boolean GENERATED ALWAYS AS (CASE WHEN entity_type
    IN ('executor', 'signer', 'registry', 'cutover_mode', 'bridge_chain', 'bridge_path',
      'bridge_registry') THEN true END) STORED
);

CREATE INDEX audit_events_newest ON audit_events (occurred_at DESC, event_id DESC);

-- Templates and registries. One call is one transaction: the write with its audit rows, or the
-- refusal with its own.

CREATE INDEX plan_template_versions_newest
  ON plan_template_versions (created_at DESC, template_id DESC);

-- What the route catalog shows, in its order, however many were retired.
CREATE INDEX plan_template_versions_active
  ON plan_template_versions (template_key COLLATE "C", version) WHERE status = 'active';

-- The delivery of callbacks: which rows are due, what became of them, and sending one again.

CREATE INDEX callbacks_newest ON callbacks (created_at DESC, event_id DESC);

CREATE INDEX callbacks_by_status ON callbacks (status, created_at DESC, event_id DESC);

-- Per movement what is still to be sent, for the head of the line.
CREATE INDEX callbacks_line ON callbacks (movement_id, sequence) WHERE status = 'pending';

-- Who may call: clients and their keys, agent authorities, and the nonces that were used.

CREATE TABLE api_clients (
  client_id   uuid PRIMARY KEY,
  client_name text NOT NULL CHECK (client_name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  status      text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'inactive')),
  created_at  timestamptz NOT NULL
);

CREATE UNIQUE INDEX api_clients_active_name ON api_clients (client_name) WHERE status = 'active';

CREATE TABLE agent_authorities (
  authority_key   text PRIMARY KEY CHECK (authority_key ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  namespace       text GENERATED ALWAYS AS ('agent/' || authority_key) STORED,
  max_notional    numeric(38, 18) CHECK (max_notional > 0),
  allowed_assets  text[] NOT NULL,
  allowed_chains  text[] NOT NULL,
  max_ttl_seconds integer CHECK (max_ttl_seconds > 0),
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL
);

CREATE TABLE api_client_keys (
  key_id           text PRIMARY KEY CHECK (key_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  client_id        uuid NOT NULL REFERENCES api_clients (client_id),
  role             text NOT NULL CHECK (role IN ('admin', 'operator', 'agent')),
  status           text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked')),
  -- The HMAC secret, encrypted with the key id as associated data: a row copied to another id
  -- cannot be opened.
  secret           bytea NOT NULL,
  cert_fingerprint text,
  authority_key    text REFERENCES agent_authorities (authority_key),
  created_at       timestamptz NOT NULL,
  revoked_at       timestamptz,
  CHECK ((role = 'agent') = (authority_key IS NOT NULL)),
  CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);

CREATE INDEX api_client_keys_client ON api_client_keys (client_id);

-- An authority is bound to one key at a time.
CREATE UNIQUE INDEX api_client_keys_authority ON api_client_keys (authority_key)
  WHERE status = 'active';

-- What agents propose: a way for an asset, which may become a template of their namespace.
CREATE TABLE template_proposals (
  proposal_id        uuid PRIMARY KEY,
  authority_key      text NOT NULL REFERENCES agent_authorities (authority_key),
  status             text NOT NULL
    CHECK (status IN ('submitted', 'auto_promoted', 'rejected', 'expired')),
  promotion_mode     text CHECK (promotion_mode IN ('auto', 'admin')),
  proposal_kind      text NOT NULL CHECK (proposal_kind IN ('static', 'ephemeral')),
  asset              text NOT NULL CHECK (char_length(asset) BETWEEN 1 AND 32),
  requested_notional numeric(38, 18) NOT NULL CHECK (requested_notional > 0),
  -- As it was sent, in normal form: what a repeat of its key is compared with.
  request            jsonb NOT NULL,
  bridge_attempt     boolean NOT NULL,
  reasons            text[] NOT NULL,
  -- Why there is no blueprint, in a sentence.
  problem            text,
  -- What it became, and the sum over the plan that versions are told apart by.
  template_id        uuid REFERENCES plan_template_versions (template_id),
  template_key       text,
  template_version   integer,
  plan_digest        text,
  max_amount         numeric(38, 18),
  client_scope       text NOT NULL,
  idempotency_key    text,
  created_by         jsonb NOT NULL,
  expires_at         timestamptz NOT NULL,
  created_at         timestamptz NOT NULL,
  updated_at         timestamptz NOT NULL,
  CHECK ((status = 'auto_promoted') = (num_nulls(promotion_mode, template_id, template_key,
    template_version, plan_digest, max_amount) = 0)),
  CHECK (status = 'auto_promoted' OR num_nonnulls(promotion_mode, template_id, template_key,
    template_version, plan_digest, max_amount) = 0),
  CHECK (max_amount >= requested_notional)
);

CREATE UNIQUE INDEX template_proposals_key ON template_proposals (client_scope, idempotency_key)
  WHERE idempotency_key IS NOT NULL;

-- Which versions there are of a plan, and which of them an administrator has promoted.
CREATE INDEX template_proposals_version
  ON template_proposals (template_key, plan_digest, proposal_kind, max_amount, template_version)
  WHERE status = 'auto_promoted';

CREATE INDEX template_proposals_granted
  ON template_proposals (template_id, requested_notional DESC) WHERE promotion_mode = 'admin';

CREATE INDEX template_proposals_newest
  ON template_proposals (created_at DESC, proposal_id DESC);

CREATE INDEX template_proposals_by_status
  ON template_proposals (status, created_at DESC, proposal_id DESC);

CREATE INDEX template_proposals_by_authority
  ON template_proposals (authority_key, created_at DESC, proposal_id DESC);

CREATE INDEX template_proposals_due ON template_proposals (expires_at)
  WHERE status = 'submitted';

CREATE TABLE nonce_registry (
  key_id  text NOT NULL,
  nonce   text NOT NULL,
  used_at timestamptz NOT NULL,
  PRIMARY KEY (key_id, nonce)
);

-- Requests of each key in its present minute, where every API process counts together
-- (SVC_RATE_LIMIT_SHARED). What a crash forgets are at most a minute's counts, so it is not logged;
-- room in its pages keeps updates from touching the index.
CREATE UNLOGGED TABLE rate_windows (
  key_id  text PRIMARY KEY,
  ends_at timestamptz NOT NULL,
  used    integer NOT NULL
) WITH (fillfactor = 50);

-- Rows come in the order of their time, so the oldest are found without an index entry for each.
CREATE INDEX nonce_registry_used ON nonce_registry USING brin (used_at);

CREATE INDEX movements_by_template
  ON movements (template_key text_pattern_ops, created_at DESC, movement_id DESC);

-- What lists are filtered by. Most rows have no value in the partial ones' columns, or the one that
-- nobody looks for.
CREATE INDEX audit_events_entity
  ON audit_events (entity_type, entity_key, occurred_at DESC, event_id DESC);

CREATE INDEX audit_events_action ON audit_events (action, occurred_at DESC, event_id DESC);

CREATE INDEX audit_events_request ON audit_events (request_id) WHERE request_id IS NOT NULL;

CREATE INDEX audit_events_client ON audit_events (actor_client_id, occurred_at DESC, event_id DESC)
  WHERE actor_client_id IS NOT NULL;

CREATE INDEX audit_events_key ON audit_events (actor_key_id, occurred_at DESC, event_id DESC)
  WHERE actor_key_id IS NOT NULL;

CREATE INDEX audit_events_namespace ON audit_events (namespace, occurred_at DESC, event_id DESC)
  WHERE namespace IS NOT NULL;

-- What was done to the registries is little among all that is recorded.
CREATE INDEX audit_events_registry ON audit_events (registry, occurred_at DESC, event_id DESC)
  WHERE registry IS NOT NULL;

CREATE INDEX audit_events_refused ON audit_events (outcome, occurred_at DESC, event_id DESC)
  WHERE outcome <> 'success';

-- The chain, in the order of sealing. No foreign key: a row that somebody removed must leave its
-- seal behind.
CREATE TABLE audit_seals (
  position   bigint PRIMARY KEY CHECK (position > 0),
  event_id   uuid NOT NULL UNIQUE,
  event_hash bytea NOT NULL,
  chain_hash bytea NOT NULL,
  mac        bytea,
  sealed_at  timestamptz NOT NULL
);

-- What the service may do with each table. A migration that adds a table adds its line here; a
-- table without one is closed to the service. Tables that do not exist (yet) are passed over.
CREATE TABLE service_privileges (
  table_name text PRIMARY KEY,
  privileges text NOT NULL CHECK (
    privileges ~ ('^(SELECT|INSERT|UPDATE|DELETE)(, (SELECT|INSERT|UPDATE|DELETE)'
      '( \([a-z_]+(,\s+[a-z_]+)*\))?)*$'))
);

-- The addresses that funds may leave to, how rows of the list change, and how the fence asks for
-- them.

CREATE TABLE allowed_addresses (
  id           uuid PRIMARY KEY,
  chain_family text NOT NULL CHECK (chain_family IN ('evm', 'cex')),
  -- In normal form: two texts of one address are one row.
  address      text NOT NULL CHECK (char_length(address) BETWEEN 1 AND 256),
  -- Null matches every chain of the family.
  chain_id     bigint CHECK (chain_id > 0),
  label        text,
  reason       text NOT NULL,
  active       boolean NOT NULL DEFAULT true,
  -- Nothing is sent there before; null: at once.
  usable_after timestamptz(3),
  created_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  updated_at   timestamptz(3) NOT NULL,
  revoked_at   timestamptz(3),
  revoked_by   text,
  UNIQUE NULLS NOT DISTINCT (chain_family, address, chain_id),
  CHECK (chain_family <> 'evm' OR address ~ '^0x[0-9a-f]{40}$'),
  CHECK (chain_family = 'evm' OR chain_id IS NULL),
  CHECK (active = (revoked_at IS NULL)),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);

CREATE INDEX allowed_addresses_newest ON allowed_addresses (created_at DESC, id DESC);

-- Automatic approval: policies, the budgets that their windows bound, and a create that approves in
-- its own transaction. See docs/decisions/0018-automatic-approval.md.

CREATE TABLE auto_approve_policies (
  policy_id              uuid PRIMARY KEY,
  client_id              uuid NOT NULL,
  strategy_id            text NOT NULL,
  is_active              boolean NOT NULL,
  -- [{"template_key", "template_version"}], a null version standing for every one. Empty allows
  -- nothing.
  allowed_templates      jsonb NOT NULL,
  allowed_assets         text[] NOT NULL,
  max_amount_per_request numeric(38, 18) CHECK (max_amount_per_request >= 0),
  window_hours           integer CHECK (window_hours BETWEEN 1 AND 720),
  max_amount_per_window  numeric(38, 18) CHECK (max_amount_per_window >= 0),
  max_count_per_window   integer CHECK (max_count_per_window >= 0),
  -- Grows with every change: what was decided by an older one is decided again.
  revision               integer NOT NULL,
  created_by             text,
  created_at             timestamptz NOT NULL,
  updated_at             timestamptz NOT NULL,
  CONSTRAINT auto_approve_policies_once UNIQUE (client_id, strategy_id),
  CONSTRAINT auto_approve_policies_window_complete CHECK (
    window_hours IS NOT NULL OR (max_amount_per_window IS NULL AND max_count_per_window IS NULL)
  )
);

CREATE INDEX auto_approve_policies_strategy ON auto_approve_policies (strategy_id);

-- What movements that a policy approved take of its budget. What a retry takes again is a row of
-- its own.
CREATE TABLE budget_reservations (
  reservation_id uuid PRIMARY KEY,
  movement_id    uuid NOT NULL REFERENCES movements (movement_id),
  policy_id      uuid NOT NULL REFERENCES auto_approve_policies (policy_id),
  -- What of it still counts; it only shrinks.
  amount         numeric(38, 18) NOT NULL CHECK (amount > 0),
  status         text NOT NULL CHECK (status IN ('reserved', 'consumed', 'released')),
  -- Windows count by this time, whatever becomes of the reservation.
  reserved_at    timestamptz NOT NULL,
  ended_at       timestamptz
);

CREATE INDEX budget_reservations_movement ON budget_reservations (movement_id, reserved_at)
  WHERE status <> 'released';

CREATE INDEX budget_reservations_window
  ON budget_reservations (policy_id, reserved_at) INCLUDE (amount, status)
  WHERE status <> 'released';

-- The last balance of each pool that a fetch told; a row is replaced as a whole and never by an
-- older fetch.
CREATE TABLE balance_snapshots (
  venue_key    text NOT NULL,
  account_type text NOT NULL,
  asset        text NOT NULL,
  available    numeric(38, 18),
  withdrawable numeric(38, 18),
  total        numeric(38, 18),
  details      jsonb,
  -- When the fetch began: what the venue did after that may not be in it.
  fetched_at   timestamptz NOT NULL,
  PRIMARY KEY (venue_key, account_type, asset)
);

-- Transfers between accounts of one provider; see docs/decisions/0022-capital-transfers.md.
CREATE TABLE capital_transfers (
  transfer_id              uuid PRIMARY KEY,
  client_scope             text NOT NULL,
  idempotency_key          text NOT NULL,
  -- The request in its normal form: what a repeat is compared with.
  request                  jsonb NOT NULL,
  request_state            text NOT NULL CHECK (request_state IN
    ('CREATED', 'SUBMITTING', 'PENDING_PROVIDER_CONFIRMATION', 'COMPLETED', 'FAILED',
      'MANUAL_INTERVENTION')),
  source_venue             text NOT NULL,
  source_account_type      text NOT NULL,
  destination_venue        text NOT NULL,
  destination_account_type text NOT NULL,
  asset                    text NOT NULL,
  amount                   numeric(38, 18) NOT NULL CHECK (amount > 0),
  reason                   text NOT NULL,
  strategy_id              text,
  provider                 text NOT NULL,
  callback_url             text,
  -- The provider's own id of its record.
  provider_transfer_id     text,
  -- The provider has shown a record of it: from then on "not found" does not mean that nothing
  -- landed.
  acknowledged             boolean NOT NULL DEFAULT false,
  submit_epoch             integer NOT NULL DEFAULT 0,
  sends                    integer NOT NULL DEFAULT 0,
  send_not_after           timestamptz,
  -- When waiting for the provider becomes a person's matter.
  pending_until            timestamptz,
  error_code               text,
  error_message            text,
  created_by               jsonb NOT NULL,
  -- Grows with every change that a run must see; `seen_version` is the last that one has loaded.
  version                  integer NOT NULL DEFAULT 1,
  seen_version             integer NOT NULL DEFAULT 0,
  next_sequence            integer NOT NULL DEFAULT 1,
  wakes                    integer NOT NULL DEFAULT 0,
  claimed_until            timestamptz NOT NULL,
  run_id                   text,
  created_at               timestamptz NOT NULL,
  updated_at               timestamptz NOT NULL,
  ended_at                 timestamptz,
  CONSTRAINT capital_transfers_ended CHECK ((ended_at IS NOT NULL)
    = (request_state IN ('COMPLETED', 'FAILED'))),
  UNIQUE (client_scope, idempotency_key)
);

CREATE INDEX capital_transfers_newest ON capital_transfers (created_at DESC, transfer_id DESC);

CREATE INDEX capital_transfers_by_state
  ON capital_transfers (request_state, created_at DESC, transfer_id DESC);

CREATE INDEX capital_transfers_by_strategy
  ON capital_transfers (strategy_id, created_at DESC, transfer_id DESC)
  WHERE strategy_id IS NOT NULL;

CREATE INDEX capital_transfers_by_source
  ON capital_transfers (source_venue, created_at DESC, transfer_id DESC);

CREATE INDEX capital_transfers_by_destination
  ON capital_transfers (destination_venue, created_at DESC, transfer_id DESC);

CREATE INDEX capital_transfers_by_asset
  ON capital_transfers (asset, created_at DESC, transfer_id DESC);

CREATE INDEX capital_transfers_open ON capital_transfers (claimed_until) WHERE ended_at IS NULL
  OR seen_version < version;

-- squawk-ignore adding-foreign-key-constraint, constraint-missing-not-valid
ALTER TABLE callbacks ADD transfer_id uuid REFERENCES capital_transfers (transfer_id),
  ADD CONSTRAINT callbacks_of_one CHECK (num_nonnulls(movement_id, transfer_id) = 1);

CREATE UNIQUE INDEX callbacks_of_transfer ON callbacks (transfer_id, sequence)
  WHERE transfer_id IS NOT NULL;

-- What happened to a transfer, gapless and never changed.
CREATE TABLE capital_transfer_events (
  event_id    uuid PRIMARY KEY,
  transfer_id uuid NOT NULL REFERENCES capital_transfers (transfer_id),
  sequence    integer NOT NULL,
  event_type  text NOT NULL,
  from_state  text,
  to_state    text,
  actor       jsonb NOT NULL,
  message     text NOT NULL,
  data        jsonb NOT NULL,
  occurred_at timestamptz NOT NULL,
  UNIQUE (transfer_id, sequence)
);

CREATE TABLE reservations (
  reservation_id uuid PRIMARY KEY,
  -- A hold belongs to a movement or to a transfer.
  movement_id    uuid REFERENCES movements (movement_id),
  transfer_id    uuid REFERENCES capital_transfers (transfer_id),
  -- The node that was proven to send this: it counts until a snapshot shows it. Null: a hold.
  node_key       text,
  venue_key      text NOT NULL,
  account_type   text NOT NULL,
  asset          text NOT NULL,
  amount         numeric(38, 18) NOT NULL CHECK (amount > 0),
  status         text NOT NULL CHECK (status IN ('held', 'released', 'consumed')),
  created_at     timestamptz NOT NULL,
  ended_at       timestamptz,
  CONSTRAINT reservations_one_owner CHECK (num_nonnulls(movement_id, transfer_id) = 1),
  FOREIGN KEY (venue_key, account_type, asset) REFERENCES reservation_pools (venue_key,
    account_type, asset)
);

CREATE UNIQUE INDEX reservations_one_hold
  ON reservations (movement_id, venue_key, account_type, asset) WHERE status = 'held';

CREATE UNIQUE INDEX reservations_one_hold_of_transfer ON reservations (transfer_id)
  WHERE transfer_id IS NOT NULL;

-- What was proven to leave a pool: a snapshot of before that time does not show it.
CREATE INDEX reservations_by_pool_ended ON reservations (venue_key, account_type, asset, ended_at)
  INCLUDE (amount, movement_id, transfer_id) WHERE status = 'consumed';

-- What is held of a pool now.
CREATE INDEX reservations_by_pool_held ON reservations (venue_key, account_type, asset)
  INCLUDE (amount, movement_id, transfer_id) WHERE status = 'held';

-- The chains of a bridge and the paths between them; see docs/decisions/0073-bridges.md.
CREATE TABLE bridge_chains (
  chain                text PRIMARY KEY CHECK (char_length(chain) BETWEEN 1 AND 64),
  -- <eid>:<address>
  endpoint_identity    text NOT NULL CHECK (
    endpoint_identity ~ '^[1-9][0-9]{0,9}:[A-Za-z0-9]{1,128}$'),
  finality_age_seconds integer NOT NULL CHECK (finality_age_seconds >= 0),
  -- Grows whenever the endpoint tells other facts than before.
  snapshot_version     integer NOT NULL DEFAULT 0 CHECK (snapshot_version >= 0),
  -- It did not answer when it was last asked, or never was. Age makes it stale too, which is
  -- decided on reading.
  snapshot_stale       boolean NOT NULL,
  stale_detected_at    timestamptz(3),
  -- What the endpoint of this identity told last, and when it was asked. Null: not yet.
  facts                jsonb,
  snapshot_at          timestamptz(3),
  operator_label       text,
  created_at           timestamptz(3) NOT NULL,
  updated_at           timestamptz(3) NOT NULL,
  CHECK ((facts IS NULL) = (snapshot_at IS NULL)),
  CHECK (facts IS NOT NULL OR snapshot_stale),
  CHECK (snapshot_stale = (stale_detected_at IS NOT NULL))
);

-- An address is the same however its letters are written.
CREATE UNIQUE INDEX bridge_chains_identity ON bridge_chains (lower(endpoint_identity));

CREATE TABLE bridge_paths (
  src_chain                        text NOT NULL REFERENCES bridge_chains (chain),
  dst_chain                        text NOT NULL REFERENCES bridge_chains (chain),
  asset                            text NOT NULL CHECK (char_length(asset) BETWEEN 1 AND 32),
  expected_latency_seconds         integer NOT NULL CHECK (expected_latency_seconds >= 0),
  detection_latency_budget_seconds integer NOT NULL CHECK (detection_latency_budget_seconds >= 0),
  -- The most that a send may cost, in the coin of the source chain.
  fee_native_budget                numeric(38, 18) NOT NULL CHECK (fee_native_budget >= 0),
  enabled                          boolean NOT NULL,
  disabled_reason                  text,
  -- Null: no drill has passed since an identity of its chains changed.
  last_drill_pass_at               timestamptz(3),
  last_drill_evidence_path         text,
  -- What the venues file named for both ends then; null where it named none for one.
  last_drill_contracts             text,
  baseline_source                  text,
  operator_label                   text,
  created_at                       timestamptz(3) NOT NULL,
  updated_at                       timestamptz(3) NOT NULL,
  PRIMARY KEY (src_chain, dst_chain, asset),
  CHECK (src_chain <> dst_chain),
  CHECK ((last_drill_pass_at IS NULL) = (last_drill_evidence_path IS NULL))
);

CREATE INDEX bridge_paths_destination ON bridge_paths (dst_chain);

INSERT INTO service_privileges (table_name, privileges) VALUES
  ('_prisma_migrations', 'SELECT'),
  ('plan_templates', 'SELECT, INSERT, UPDATE'),
  ('plan_template_versions',
    'SELECT, INSERT, UPDATE (status, retired_at, retired_by, retired_reason)'),
  ('plan_nodes', 'SELECT, INSERT'),
  ('plan_edges', 'SELECT, INSERT'),
  -- Movements are made by create_movement alone, and of what they are approved for, no column may
  -- be changed; see docs/decisions/0104-what-the-services-role-may-write.md.
  ('movements', 'SELECT, UPDATE (request_state, approval_status, reservation_status, version,
    next_sequence, current_frontier, auto_approve_result, error_code, error_message, approver_id,
    approved_by, run_id, expires_at, updated_at, ended_at, swept_at, edge_conditions,
    attention_told, acknowledged_at)'),
  ('movement_plans', 'SELECT'),
  ('movement_approvals', 'SELECT, INSERT'),
  ('movement_other_assets', 'SELECT'),
  ('movement_nodes', 'SELECT, UPDATE (state, attempt, amount, preflight_passed, prepared_action,
    sign_request, submit_epoch, send_not_after, recover_first, restored, resumed, only_look,
    cancel_asked, error_count, unanswered, unanswered_since, next_look_at, questions, frozen_since,
    external_ref, output, error_code, error_message, started_at, submitted_at, updated_at,
    completed_at)'),
  ('node_attempts', 'SELECT, INSERT, UPDATE'),
  ('artifacts', 'SELECT, INSERT'),
  ('timeline_events', 'SELECT, INSERT'),
  ('callbacks', 'SELECT, INSERT, UPDATE, DELETE'),
  ('commands', 'SELECT, INSERT, UPDATE, DELETE'),
  ('turns', 'SELECT, UPDATE'),
  ('leases', 'SELECT, INSERT, UPDATE, DELETE'),
  ('requested_looks', 'SELECT, INSERT, UPDATE, DELETE'),
  ('reservation_pools', 'SELECT, INSERT, UPDATE'),
  ('reservations', 'SELECT, INSERT, UPDATE'),
  ('cutover', 'SELECT, UPDATE'),
  ('executors', 'SELECT, INSERT, UPDATE'),
  ('signers', 'SELECT, INSERT, UPDATE'),
  ('signer_events', 'SELECT, INSERT'),
  ('nonce_lanes', 'SELECT, INSERT, UPDATE'),
  ('authorizations', 'SELECT, INSERT, UPDATE'),
  ('payments', 'SELECT, INSERT, UPDATE'),
  ('payment_claims', 'SELECT, INSERT, UPDATE'),
  ('perp_master', 'SELECT, INSERT, UPDATE'),
  ('perp_bindings', 'SELECT, INSERT, UPDATE'),
  ('perp_agent_wallets', 'SELECT, INSERT, UPDATE'),
  ('perp_accounts', 'SELECT, INSERT, UPDATE'),
  ('perp_lanes', 'SELECT, INSERT, UPDATE'),
  ('perp_actions', 'SELECT, INSERT, UPDATE'),
  ('evm_transactions', 'SELECT, INSERT, UPDATE'),
  ('restores', 'SELECT, INSERT, UPDATE'),
  ('audit_events', 'SELECT, INSERT'),
  ('audit_seals', 'SELECT, INSERT'),
  ('api_clients', 'SELECT'),
  ('api_client_keys', 'SELECT'),
  ('agent_authorities', 'SELECT'),
  ('template_proposals', 'SELECT, INSERT, UPDATE'),
  ('nonce_registry', 'SELECT, INSERT, DELETE'),
  ('rate_windows', 'SELECT, INSERT, UPDATE'),
  ('allowed_addresses', 'SELECT, INSERT, UPDATE'),
  ('auto_approve_policies', 'SELECT, INSERT, UPDATE'),
  ('budget_reservations', 'SELECT, INSERT, UPDATE'),
  ('tallies', 'SELECT, INSERT, UPDATE'),
  ('tally_changes', 'SELECT, INSERT, DELETE'),
  ('route_months', 'SELECT, INSERT, UPDATE'),
  ('route_changes', 'SELECT, INSERT, DELETE'),
  ('route_stats', 'SELECT'),
  ('balance_snapshots', 'SELECT, INSERT, UPDATE'),
  ('capital_transfers', 'SELECT, INSERT, UPDATE'),
  ('capital_transfer_events', 'SELECT, INSERT'),
  ('bridge_chains', 'SELECT, INSERT, UPDATE, DELETE'),
  ('bridge_paths', 'SELECT, INSERT, UPDATE, DELETE');
