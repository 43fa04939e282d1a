-- As before, but stricter about what is plain. A node that pays on a chain goes the long way, which also knows payees
-- without 0x (names of name services); and names are compared as domain/allowlist/payees.ts does, without `_` and `-`.
CREATE OR REPLACE FUNCTION plain_addresses(action text, config jsonb, movement_intent jsonb, input_params jsonb, prepared jsonb, reported jsonb)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  paid text := config ->> 'destination_address';
  also text := prepared ->> 'destination_address';
  hex boolean;
BEGIN
  IF action IN ('noop', 'manual_gate', 'cex_internal_transfer', 'cex_deposit_observe', 'evm_balance_observe', 'bridge_c_observe') THEN
    RETURN '[]';
  END IF;
  IF action IN ('evm_native_transfer', 'evm_erc20_transfer', 'cctp_burn', 'cctp_mint', 'bridge_c_send', 'perp_deposit', 'perp_withdraw',
                'agent_wallet_top_up') THEN
    RETURN NULL;
  END IF;
  IF action <> 'cex_withdrawal' THEN
    RETURN CASE WHEN movement_intent ->> 'destination_address' IS NULL
                     AND concat(config, input_params, prepared, reported) !~* '0x' THEN '[]'::jsonb END;
  END IF;
  hex := paid ~* '^0x[0-9a-f]{40}$';
  IF jsonb_typeof(config -> 'destination_address') IS DISTINCT FROM 'string' OR (NOT hex AND paid !~ '^[!-~]{1,256}$')
     OR (NOT hex AND paid ~* '^0x') THEN RETURN NULL; END IF;
  IF also IS NOT NULL AND (CASE WHEN hex THEN lower(also) <> lower(paid) ELSE also <> paid END) THEN RETURN NULL; END IF;
  IF regexp_replace(concat(config - 'destination_address', prepared - 'destination_address', reported), '[_-]', '', 'g')
     ~* '0x|addr|wallet|destination|recipient|receiver|beneficiary|payee' THEN RETURN NULL; END IF;
  RETURN jsonb_build_array(jsonb_build_object('chain_family', 'cex', 'address', CASE WHEN hex THEN lower(paid) ELSE paid END));
END $$;
