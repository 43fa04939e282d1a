/**
 * Puts message and stack of a failure into a payload, which the codec then encrypts as any other.
 * In workflows it does so only if `encodeFailures` is set (settings.ts); other code loads this file
 * only if it is set.
 */
const { DefaultFailureConverter } = require('@temporalio/common');

const { encodeFailures = true } = globalThis.workflowSettings ?? {};
exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: encodeFailures });
