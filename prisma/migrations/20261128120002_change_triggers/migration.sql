-- The rows that let more money go, or to more places, and the columns of each that differ at each
-- try: see require_change in prisma/functions/change-requests.sql.

-- All of these look at the end of the transaction, when all rows are written.
CREATE CONSTRAINT TRIGGER new_address_needs_people AFTER INSERT ON allowed_addresses
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.active)
  EXECUTE FUNCTION require_change('allowlist', 'id,usable_after');
CREATE CONSTRAINT TRIGGER address_needs_people AFTER UPDATE ON allowed_addresses
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.active AND (NOT OLD.active
    OR (OLD.chain_family, OLD.address) IS DISTINCT FROM (NEW.chain_family, NEW.address)
    -- Without a chain it may be paid on every one.
    OR OLD.chain_id IS DISTINCT FROM NEW.chain_id AND (OLD.chain_id IS NOT NULL
      OR NEW.usable_after < OLD.usable_after
      OR NEW.usable_after IS NULL AND OLD.usable_after IS NOT NULL)))
  EXECUTE FUNCTION require_change('allowlist', 'id,usable_after');
-- No command only shortens a cooling period.
CREATE CONSTRAINT TRIGGER address_cools_need_people AFTER UPDATE ON allowed_addresses
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.active AND OLD.active AND OLD.chain_id IS NOT DISTINCT FROM NEW.chain_id
    AND (NEW.usable_after < OLD.usable_after
      OR NEW.usable_after IS NULL AND OLD.usable_after IS NOT NULL))
  EXECUTE FUNCTION require_change('allowlist', 'id');

CREATE CONSTRAINT TRIGGER new_policy_needs_people AFTER INSERT ON auto_approve_policies
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.is_active)
  EXECUTE FUNCTION require_change('policies', 'policy_id');
CREATE CONSTRAINT TRIGGER policy_needs_people AFTER UPDATE ON auto_approve_policies
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (policy_widens(OLD, NEW))
  EXECUTE FUNCTION require_change('policies', 'policy_id');

CREATE CONSTRAINT TRIGGER version_needs_people AFTER INSERT ON plan_template_versions
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.template_key NOT LIKE 'system/%')
  EXECUTE FUNCTION require_change('templates', 'template_id');
CREATE CONSTRAINT TRIGGER template_needs_people AFTER UPDATE ON plan_templates
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.auto_approve_enabled AND (NOT OLD.auto_approve_enabled
    OR NEW.daily_cap_asset IS DISTINCT FROM OLD.daily_cap_asset
    OR is_raised(OLD.daily_cap_amount, NEW.daily_cap_amount)))
  EXECUTE FUNCTION require_change('templates', '');

CREATE CONSTRAINT TRIGGER new_template_needs_people AFTER INSERT ON plan_templates
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.auto_approve_enabled)
  EXECUTE FUNCTION require_change('templates', '');

-- An administrator's promotion of a proposal waives the agent's limits, also for a known version.
CREATE CONSTRAINT TRIGGER promotion_needs_people AFTER UPDATE ON template_proposals
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.promotion_mode = 'admin' AND OLD.promotion_mode IS DISTINCT FROM 'admin')
  EXECUTE FUNCTION require_change('templates', 'template_id');

CREATE CONSTRAINT TRIGGER executor_needs_people AFTER UPDATE ON executors
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.status = 'active' AND OLD.status <> 'active')
  EXECUTE FUNCTION require_change('executors', 'health_state,health_checked_at');

CREATE CONSTRAINT TRIGGER signer_needs_people AFTER UPDATE ON signers
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.status = 'active' AND OLD.status <> 'active'
    OR NEW.expected_signer_address IS DISTINCT FROM OLD.expected_signer_address
    OR NEW.replaced_by IS DISTINCT FROM OLD.replaced_by)
  EXECUTE FUNCTION require_change('signers', 'observed_at');

CREATE CONSTRAINT TRIGGER new_chain_needs_people AFTER INSERT ON bridge_chains
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION require_change('bridge', 'stale_detected_at');
CREATE CONSTRAINT TRIGGER chain_needs_people AFTER UPDATE ON bridge_chains
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.chain, OLD.endpoint_identity) IS DISTINCT FROM (NEW.chain, NEW.endpoint_identity)
    OR NEW.finality_age_seconds < OLD.finality_age_seconds)
  EXECUTE FUNCTION require_change('bridge', 'stale_detected_at,snapshot_at,snapshot_version');
CREATE CONSTRAINT TRIGGER new_path_needs_people AFTER INSERT ON bridge_paths
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION require_change('bridge', '');
CREATE CONSTRAINT TRIGGER path_needs_people AFTER UPDATE ON bridge_paths
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.enabled AND NOT OLD.enabled
    OR (OLD.src_chain, OLD.dst_chain, OLD.asset)
      IS DISTINCT FROM (NEW.src_chain, NEW.dst_chain, NEW.asset)
    OR NEW.last_drill_pass_at IS DISTINCT FROM OLD.last_drill_pass_at
      AND NEW.last_drill_pass_at IS NOT NULL
    OR is_raised(OLD.expected_latency_seconds, NEW.expected_latency_seconds)
    OR is_raised(OLD.detection_latency_budget_seconds, NEW.detection_latency_budget_seconds)
    OR is_raised(OLD.fee_native_budget, NEW.fee_native_budget))
  EXECUTE FUNCTION require_change('bridge', 'last_drill_pass_at');

CREATE CONSTRAINT TRIGGER master_needs_people AFTER INSERT OR UPDATE ON perp_master
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_change('perps', '');
CREATE CONSTRAINT TRIGGER new_binding_needs_people AFTER INSERT ON perp_bindings
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_change('perps', '');
CREATE CONSTRAINT TRIGGER binding_needs_people AFTER UPDATE ON perp_bindings
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.paused AND NOT NEW.paused
    OR NEW.sub_account_address IS DISTINCT FROM OLD.sub_account_address
    OR is_raised(OLD.max_agent_balance, NEW.max_agent_balance))
  EXECUTE FUNCTION require_change('perps', 'paused_changed_at');
-- The default validity counts from the moment of the call, so it is not compared.
CREATE CONSTRAINT TRIGGER wallet_needs_people AFTER INSERT ON perp_agent_wallets
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION require_change('perps', 'wallet_id,valid_until,next_look_at');

CREATE CONSTRAINT TRIGGER transfer_needs_people AFTER INSERT ON capital_transfers
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION require_change('capital_transfer',
    'transfer_id,claimed_until,callback_url,request');

CREATE CONSTRAINT TRIGGER cutover_needs_people AFTER UPDATE ON cutover
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (cutover_stops(NEW.mode) < cutover_stops(OLD.mode))
  EXECUTE FUNCTION require_change('cutover', 'changed_at,changed_by,previous_mode');

-- What a new key can do is what is approved; its id and secret are made when it is issued.
CREATE CONSTRAINT TRIGGER key_needs_people AFTER INSERT ON api_client_keys
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION require_change('keys', 'client_id,secret');
CREATE CONSTRAINT TRIGGER authority_needs_people AFTER UPDATE ON agent_authorities
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  -- Without an amount an authority covers none.
  WHEN (coalesce(NEW.max_notional, 0) > coalesce(OLD.max_notional, 0)
    OR is_raised(OLD.max_ttl_seconds, NEW.max_ttl_seconds)
    OR NOT NEW.allowed_assets <@ OLD.allowed_assets OR NOT NEW.allowed_chains <@ OLD.allowed_chains)
  EXECUTE FUNCTION require_change('keys', '');

CREATE CONSTRAINT TRIGGER operator_needs_people AFTER INSERT ON dashboard_keys
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION require_change('keys', 'key_id,code_hash,code_until');

CREATE CONSTRAINT TRIGGER passkey_needs_people AFTER INSERT ON passkeys
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  EXECUTE FUNCTION require_change('keys', 'enrolled_at');
