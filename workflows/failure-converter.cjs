/** Puts message and stack of a failure into a payload, which the codec then encrypts as any other. */
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
