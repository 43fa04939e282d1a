/**
 * One row of nearly everything, written past the service, for tests that call functions of the
 * database by themselves.
 */
import pg from 'pg';
import { startStoreBench, type StoreBench } from './support.ts';

export const ID = (digit: string): string => `00000000-0000-7000-8000-${digit.repeat(12)}`;
export const ADDRESS = `0x${'a'.repeat(40)}`;
export const MASTER = `0x${'b'.repeat(40)}`;

/** A value as SQL writes it. */
export const doc = (value: object): string =>
  `'${JSON.stringify(value).replaceAll("'", "''")}'::jsonb`;

export interface MadeUp {
  readonly bench: StoreBench;
  /** Movements: one waits for its approval, the node of one is SUBMITTING, one has a signer. */
  readonly waiting: string;
  readonly sending: string;
  readonly signed: string;
  /** A connection of its own. */
  connect(): Promise<pg.Client>;
  close(): Promise<void>;
}

export async function startMadeUp(): Promise<MadeUp> {
  const bench = await startStoreBench();
  const clients: pg.Client[] = [];
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: bench.url });
    clients.push(client);
    await client.connect();
    return client;
  };
  const made = async (): Promise<string> =>
    (await bench.movement({ unheld: true, strategy_id: 'strategy' })).movement_id;
  const [waiting, sending, signed] = [await made(), await made(), await made()];
  const writer = await connect();
  // What these rows belong to is of no interest here, nor who may write them.
  await writer.query(`
    SET session_replication_role = replica;

    INSERT INTO signers (signer_key, backend, chain_family, created_at, updated_at)
      VALUES ('old', 'noop', 'evm', now(), now()), ('new', 'noop', 'evm', now(), now());
    INSERT INTO executors (executor_key, kind, action_types, created_at, updated_at)
      VALUES ('e', 'local', '{}', now(), now());
    INSERT INTO allowed_addresses (id, chain_family, address, reason, created_by, created_at,
      updated_at) VALUES ('${ID('1')}', 'evm', '${ADDRESS}', 'r', 'b', now(), now());
    INSERT INTO auto_approve_policies (policy_id, client_id, strategy_id, is_active,
      allowed_templates, allowed_assets, revision, created_at, updated_at)
      VALUES ('${ID('1')}', '${ID('1')}', 's', true, '[]', '{}', 1, now(), now());
    INSERT INTO agent_authorities (authority_key, allowed_assets, allowed_chains, created_at,
      updated_at) VALUES ('authority', '{}', '{}', now(), now());
    INSERT INTO api_clients (client_id, client_name, created_at)
      VALUES ('${ID('1')}', 'client', now());
    INSERT INTO api_client_keys (key_id, client_id, role, secret, authority_key, created_at)
      VALUES ('key', '${ID('1')}', 'agent', '', 'authority', now());
    INSERT INTO template_proposals (proposal_id, authority_key, status, proposal_kind, asset,
      requested_notional, request, bridge_attempt, reasons, client_scope, created_by, expires_at,
      created_at, updated_at)
      VALUES ('${ID('1')}', 'authority', 'submitted', 'static', 'USDC', 1, '{}', false, '{}', 's',
        '{}', now(), now(), now());
    INSERT INTO bridge_chains (chain, endpoint_identity, finality_age_seconds, snapshot_stale,
      stale_detected_at, created_at, updated_at)
      VALUES ('near', '1:A', 1, true, now(), now(), now()),
        ('far', '2:B', 1, true, now(), now(), now());
    INSERT INTO bridge_paths (src_chain, dst_chain, asset, expected_latency_seconds,
      detection_latency_budget_seconds, fee_native_budget, enabled, created_at, updated_at)
      VALUES ('near', 'far', 'USDC', 1, 1, 1, true, now(), now());
    INSERT INTO callbacks (event_id, movement_id, event_type, sequence, url, payload, nonce, status,
      next_attempt_at, created_at, updated_at)
      VALUES ('${ID('1')}', '${waiting}', 'x', 1, 'u', '{}', 'n', 'pending', now(), now(), now());
    INSERT INTO callbacks (event_id, webhook, event_type, sequence, url, payload, nonce, status,
        next_attempt_at, created_at, updated_at)
      VALUES ('${ID('2')}', 'desk', 'webhook.test', 0, 'u', '{}', 'of a webhook', 'pending', now(),
        now(), now());
    INSERT INTO capital_transfers (transfer_id, client_scope, idempotency_key, request,
      request_state, source_venue, source_account_type, destination_venue, destination_account_type,
      asset, amount, reason, provider, created_by, claimed_until, created_at, updated_at)
      VALUES ('${ID('1')}', 's', 'k', '{}', 'CREATED', 'a', 'a', 'b', 'b', 'USDC', 1, 'r', 'p',
        '{}', now(), now(), now());
    INSERT INTO payments (source, reference, amount, created_at) VALUES ('s', 'r', 1, now());
    INSERT INTO nonce_lanes (chain_id, address, next_nonce) VALUES (1, '${ADDRESS}', 1);
    INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key, kind,
      unsigned, created_at)
      VALUES ('${ID('1')}', 1, '${ADDRESS}', 0, 'old', 'cancel', '{}', now());
    INSERT INTO reservation_pools VALUES ('chain:old', 'a', 'USDC', 0);
    INSERT INTO perp_master (master_address, signer_key, network, created_at)
      VALUES ('${MASTER}', 'old', 'testnet', now());
    INSERT INTO perp_bindings (strategy_id, created_at, updated_at)
      VALUES ('strategy', now(), now());
    INSERT INTO perp_lanes VALUES ('${MASTER}', 1);
    INSERT INTO perp_agent_wallets (wallet_id, strategy_id, agent_name, signer_key, address,
      valid_until, state, next_look_at, created_at, updated_at)
      VALUES ('${ID('1')}', 'strategy', 'n', 'old', 'x', now(), 'pending', now(), now(), now());
    INSERT INTO perp_actions (address, nonce, wallet_id, created_at)
      VALUES ('${MASTER}', 1, '${ID('1')}', now());
    UPDATE movement_nodes SET state = 'SUBMITTING' WHERE movement_id = '${sending}';
    UPDATE movement_nodes SET signer_binding = '{"signer_key": "old"}'
      WHERE movement_id = '${signed}';
    RESET session_replication_role`);
  return {
    bench,
    waiting,
    sending,
    signed,
    connect,
    close: async () => {
      await Promise.allSettled(clients.map((client) => client.end()));
      await bench.close();
    },
  };
}
