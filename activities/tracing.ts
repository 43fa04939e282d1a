/** Adds a trace span for each activity, in the trace that started its run. Loads OpenTelemetry. */
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

export const activityTracing: ActivityInterceptorsFactory = (context) => ({
  inbound: new OpenTelemetryActivityInboundInterceptor(context),
});
