/**
 * Puts message and stack of a failure into a payload, which the codec then encrypts as any other.
 * Inside the workflows only where that is asked for (settings.ts); elsewhere it is loaded only
 * where it is.
 */
const { DefaultFailureConverter } = require('@temporalio/common');

const { encodeFailures = true } = globalThis.workflowSettings ?? {};
exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: encodeFailures });
