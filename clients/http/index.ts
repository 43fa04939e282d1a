/** The client of the Fund Movement Orchestration Service, for Node 20 and for browsers. */
export { createClient, type ClientOptions, type FundClient, type Health } from './client.ts';
export {
  CallbackError,
  verifyCallback,
  verifyWebhook,
  type CallbackEvent,
  type CallbackFault,
  type VerifyOptions,
  type WebhookMessage,
} from './callback.ts';
export {
  ApiError,
  ChangeRequestedError,
  ClientUsageError,
  isErrorCode,
  PreviewError,
  UnreachableError,
  WaitEndedError,
  WaitTimeoutError,
  type ErrorCode,
  type Issue,
} from './errors.ts';
export { ERRORS } from './generated/errors.ts';
export { MOVEMENT_END_STATES, TRANSFER_END_STATES } from './generated/states.ts';
export {
  OPERATIONS,
  type BodyOf,
  type CallOptions,
  type DryRunId,
  type Input,
  type Operation,
  type OperationId,
  type PagedId,
  type ParamsOf,
  type PreviewOf,
  type QueryOf,
  type ResultOf,
  type RowOf,
  type Schema,
} from './operations.ts';
export { planHash } from './plan.ts';
export type { RetryNotice } from './retry.ts';
export {
  createDashboardClient,
  type DashboardClient,
  type DashboardClientOptions,
} from './dashboard.ts';
export {
  createDashboardSigner,
  dashboardFingerprint,
  createSigner,
  signatureHeaders,
  type ClientKey,
  type DashboardKey,
  type Hashing,
  type RequestToSign,
  type SignedAt,
  type Signer,
} from './sign.ts';
export type { Reply } from './transport.ts';
export type {
  Movement,
  MovementState,
  Target,
  Transfer,
  TransferState,
  WaitOptions,
} from './wait.ts';
