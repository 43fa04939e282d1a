/** Every kind of event the service records or sends, once, as data. */

export const CALLBACK_EVENTS = [
  'request_approved',
  'request_rejected',
  'request_expired',
  'request_resumed',
  'request_retried',
  'request_cancelled',
  'request_completed',
  'request_failed',
  'request_attention',
  'frontier_advanced',
] as const;
export type CallbackEvent = (typeof CALLBACK_EVENTS)[number];

export const TIMELINE_EVENTS = [
  'movement_created',
  'auto_approve_evaluated',
  ...CALLBACK_EVENTS,
  'node_ready',
  'node_preflight_passed',
  'node_prepared',
  'node_submitting',
  'node_submitted',
  'node_observing',
  'node_completed',
  'node_failed',
  'node_unknown',
  'node_recovered',
  'node_skipped',
  'node_cancelled',
  'node_requeued',
  'transaction_mined',
  'transaction_replaced',
  'transaction_cancel_requested',
  'transaction_cancelling',
  'transaction_dropped',
  'transaction_displaced',
  'transaction_mined_late',
  'signer_remapped',
  'condition_error',
  'callback_delivered',
  'callback_dead_lettered',
] as const;
export type TimelineEventType = (typeof TIMELINE_EVENTS)[number];

/** What is recorded of a capital transfer. */
export const TRANSFER_EVENTS = [
  'transfer_created',
  'transfer_submitting',
  'transfer_pending',
  'transfer_completed',
  'transfer_failed',
  'transfer_attention',
  'transfer_resolved',
] as const;
export type TransferEventType = (typeof TRANSFER_EVENTS)[number];

/** Audit actions, `<entity>.<verb>`. */
export const AUDIT_ACTIONS = [
  'plan_template.create',
  'plan_template.update_admin_fields',
  'movement.create',
  'movement.approve',
  'movement.reject',
  'movement.expire',
  'movement.resume',
  'movement.retry',
  'movement.cancel',
  'movement.resolve',
  'movement.cancel_transaction',
  'movement.complete',
  'movement.fail',
  'cutover.set_mode',
  'executor.update_status',
  'signer.update_status',
  'signer.set_expected_identity',
  'signer.rotate',
  'signer.inventory',
  'signer.allowances',
  'signer.retire',
  'registry.verify_drift',
  'bridge_chain.create',
  'bridge_chain.replace',
  'bridge_chain.delete',
  'bridge_path.create',
  'bridge_path.replace',
  'bridge_path.delete',
  'bridge_path.drill_pass',
  'bridge_registry.refresh',
  'database.after_restore',
  'callback.redeliver',
  'api_key.issue',
  'api_key.revoke',
  'api_key.authenticate',
  'route.call',
  'agent_authority.create',
  'auto_approve_policy.create',
  'auto_approve_policy.update',
  'allowed_address.create',
  'allowed_address.reactivate',
  'allowed_address.revoke',
  'allowed_address.set_chain',
  'capital_transfer.create',
  'capital_transfer.resolve',
  'capital_transfer.complete',
  'capital_transfer.fail',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_OUTCOMES = ['success', 'denied', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];
