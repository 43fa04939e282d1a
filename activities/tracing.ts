/** Spans around activities, as parts of the trace that started their run. Loads OpenTelemetry. */
import { OpenTelemetryActivityInboundInterceptor } from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

export const activityTracing: ActivityInterceptorsFactory = (context) => ({
  inbound: new OpenTelemetryActivityInboundInterceptor(context),
});
