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
  graph_shape          text NOT NULL CHECK (graph_shape IN ('linear', 'branching', 'merging', 'split', 'hybrid')),
  approval_policy      jsonb NOT NULL,
  risk_controls        jsonb NOT NULL,
  completion_assurance text NOT NULL,
  created_by           text,
  created_at           timestamptz NOT NULL,
  CONSTRAINT plan_template_versions_key_version UNIQUE (template_key, version)
);

CREATE TABLE plan_nodes (
  id                uuid PRIMARY KEY,
  template_id       uuid NOT NULL REFERENCES plan_template_versions (template_id),
  position          integer NOT NULL,
  node_key          text NOT NULL,
  node_kind         text NOT NULL CHECK (node_kind IN ('action', 'observe', 'manual_gate', 'compensation', 'post_action')),
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
  edge_type      text NOT NULL CHECK (edge_type IN ('on_success', 'on_failure', 'on_timeout', 'on_cancel', 'on_manual_resume')),
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
  request_state        text NOT NULL CHECK (request_state IN ('PENDING_APPROVAL', 'APPROVED', 'EXECUTING', 'COMPLETED', 'FAILED',
                         'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION', 'REJECTED', 'EXPIRED', 'CANCELLED')),
  approval_status      text NOT NULL CHECK (approval_status IN ('pending', 'approved', 'rejected', 'expired')),
  reservation_status   text NOT NULL CHECK (reservation_status IN ('none', 'held', 'released', 'consumed')),
  version              integer NOT NULL DEFAULT 1,
  next_sequence        integer NOT NULL DEFAULT 1,
  asset                text NOT NULL,
  amount               numeric(38, 18) NOT NULL CHECK (amount > 0),
  intent               jsonb NOT NULL,
  input_params         jsonb NOT NULL,
  labels               jsonb NOT NULL,
  compiled_plan        jsonb NOT NULL,
  compiled_plan_hash   text NOT NULL CHECK (compiled_plan_hash ~ '^[0-9a-f]{64}$'),
  current_frontier     text[] NOT NULL,
  auto_approve_result  jsonb,
  error_code           text,
  error_message        text,
  callback_url         text,
  client_scope         text NOT NULL,
  idempotency_key      text,
  request              jsonb NOT NULL,
  created_by           jsonb NOT NULL,
  approver_id          text,
  approved_by          text,
  run_id               text,
  expires_at           timestamptz NOT NULL,
  created_at           timestamptz NOT NULL,
  updated_at           timestamptz NOT NULL,
  -- Set while no run is needed; the sweeper looks after every movement where it is null.
  ended_at             timestamptz,
  swept_at             timestamptz
);
CREATE UNIQUE INDEX movements_idempotency ON movements (client_scope, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX movements_newest ON movements (created_at DESC, movement_id DESC);
CREATE INDEX movements_by_state ON movements (request_state, created_at DESC, movement_id DESC);
CREATE INDEX movements_by_strategy ON movements (strategy_id, created_at DESC, movement_id DESC) WHERE strategy_id IS NOT NULL;
CREATE INDEX movements_open ON movements (swept_at NULLS FIRST) WHERE ended_at IS NULL;

CREATE TABLE movement_nodes (
  movement_id       uuid NOT NULL REFERENCES movements (movement_id),
  node_key          text NOT NULL,
  position          integer NOT NULL,
  node_kind         text NOT NULL,
  action_type       text NOT NULL,
  state             text NOT NULL CHECK (state IN ('BLOCKED', 'READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED',
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
  resumed           boolean NOT NULL DEFAULT false,
  error_count       integer NOT NULL DEFAULT 0 CHECK (error_count >= 0),
  external_ref      text,
  output            jsonb,
  error_code        text,
  error_message     text,
  started_at        timestamptz,
  submitted_at      timestamptz,
  updated_at        timestamptz NOT NULL,
  completed_at      timestamptz,
  PRIMARY KEY (movement_id, node_key)
);

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
CREATE UNIQUE INDEX node_attempts_one_active ON node_attempts (movement_id, node_key) WHERE ended_at IS NULL;

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
  movement_id     uuid NOT NULL REFERENCES movements (movement_id),
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
CREATE INDEX commands_unapplied ON commands (movement_id, created_at) WHERE applied_at IS NULL;
CREATE INDEX commands_due ON commands (claimed_until) WHERE applied_at IS NULL;

CREATE TABLE reservation_pools (
  venue_key    text NOT NULL,
  account_type text NOT NULL,
  asset        text NOT NULL,
  held         numeric(38, 18) NOT NULL DEFAULT 0 CONSTRAINT reservation_pools_held_not_negative CHECK (held >= 0),
  PRIMARY KEY (venue_key, account_type, asset)
);

CREATE TABLE reservations (
  reservation_id uuid PRIMARY KEY,
  movement_id    uuid NOT NULL REFERENCES movements (movement_id),
  venue_key      text NOT NULL,
  account_type   text NOT NULL,
  asset          text NOT NULL,
  amount         numeric(38, 18) NOT NULL CHECK (amount > 0),
  status         text NOT NULL CHECK (status IN ('held', 'released', 'consumed')),
  created_at     timestamptz NOT NULL,
  ended_at       timestamptz,
  FOREIGN KEY (venue_key, account_type, asset) REFERENCES reservation_pools (venue_key, account_type, asset)
);
CREATE UNIQUE INDEX reservations_one_hold ON reservations (movement_id, venue_key, account_type, asset) WHERE status = 'held';

CREATE TABLE executors (
  executor_key      text PRIMARY KEY,
  kind              text NOT NULL CHECK (kind IN ('local', 'remote', 'task_queue')),
  status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
  action_types      text[] NOT NULL,
  provider          text,
  chain_family      text,
  endpoint          text,
  health_state      text NOT NULL DEFAULT 'unknown' CHECK (health_state IN ('up', 'down', 'unknown')),
  health_checked_at timestamptz,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL
);

CREATE TABLE signers (
  signer_key              text PRIMARY KEY,
  status                  text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled', 'deprecated', 'retired')),
  backend                 text NOT NULL,
  chain_family            text NOT NULL,
  profile                 text,
  expected_signer_address text,
  observed_signer_address text,
  observed_at             timestamptz,
  created_at              timestamptz NOT NULL,
  updated_at              timestamptz NOT NULL
);

-- The next nonce of an account on a chain; the row is the lock that orders everything the account sends.
CREATE TABLE nonce_lanes (
  chain_id   bigint NOT NULL,
  address    text NOT NULL,
  next_nonce bigint NOT NULL CHECK (next_nonce >= 0),
  PRIMARY KEY (chain_id, address)
);

CREATE TABLE evm_transactions (
  transaction_id uuid PRIMARY KEY,
  chain_id       bigint NOT NULL,
  address        text NOT NULL,
  nonce          bigint NOT NULL CHECK (nonce >= 0),
  movement_id    uuid NOT NULL REFERENCES movements (movement_id),
  node_key       text NOT NULL,
  attempt        integer NOT NULL,
  unsigned       jsonb NOT NULL,
  raw_tx         text,
  tx_hash        text,
  created_at     timestamptz NOT NULL,
  -- Set when another, finalized transaction used the nonce: the claim is over, nothing of ours landed.
  released_at    timestamptz,
  CONSTRAINT evm_transactions_signed CHECK ((raw_tx IS NULL) = (tx_hash IS NULL))
);
CREATE UNIQUE INDEX evm_transactions_nonce ON evm_transactions (chain_id, address, nonce) WHERE released_at IS NULL;
CREATE INDEX evm_transactions_node ON evm_transactions (movement_id, node_key, attempt);

CREATE TABLE audit_events (
  event_id        uuid PRIMARY KEY,
  occurred_at     timestamptz NOT NULL,
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
  details         jsonb NOT NULL
);
CREATE INDEX audit_events_newest ON audit_events (occurred_at DESC, event_id DESC);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER timeline_events_append_only BEFORE UPDATE OR DELETE ON timeline_events FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER plan_nodes_immutable BEFORE UPDATE OR DELETE ON plan_nodes FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER plan_edges_immutable BEFORE UPDATE OR DELETE ON plan_edges FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER plan_template_versions_immutable BEFORE UPDATE OR DELETE ON plan_template_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
