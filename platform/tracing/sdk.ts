/**
 * OpenTelemetry: spans to a collector over OTLP, W3C trace context between processes. Loaded only
 * when tracing is on.
 */
import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import type { Logger } from 'pino';
import type { TracingConfig } from '../config.ts';
import type { CurrentTracing, RequestSpan, Tracing } from './handle.ts';
import { VERSION } from '../version.ts';

const SERVICE = 'fund-movement-orchestrator';
/**
 * The only trace headers passed from callers to executors. The baggage header is not passed, since
 * it could carry anything.
 */
const CONTEXT_HEADERS = ['traceparent', 'tracestate'] as const;

export function createTracing(
  config: TracingConfig,
  about: { readonly role: string; readonly log: Logger },
): { readonly tracing: Tracing; readonly nested: CurrentTracing } {
  reportTo(about.log);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': SERVICE,
      'service.version': VERSION,
      'service.instance.role': about.role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(config.sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor(
        new OTLPTraceExporter({ url: config.url, headers: { ...config.headers } }),
      ),
    ],
  });
  provider.register();
  const tracer = trace.getTracer(SERVICE, VERSION);
  return {
    tracing: tracingOf(tracer, () => provider.shutdown()),
    nested: nestedTracing(tracer),
  };
}

function tracingOf(tracer: Tracer, stop: () => Promise<void>): Tracing {
  return {
    request: (method, headers) => {
      const parent = propagation.extract(context.active(), contextHeaders(headers));
      const span = tracer.startSpan(
        method,
        { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } },
        parent,
      );
      const within = trace.setSpan(parent, span);
      return {
        run: (work) => context.with(within, work),
        end: ({ route, status, request_id }) => {
          span.updateName(`${method} ${route}`);
          span.setAttributes({
            'http.route': route,
            'http.response.status_code': status,
            request_id,
          });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      } satisfies RequestSpan;
    },
    bind: (work) => {
      const now = context.active();
      return () => context.with(now, work);
    },
    clientInterceptor: wakeInterceptor(),
    stop,
  };
}

function nestedTracing(tracer: Tracer): CurrentTracing {
  return {
    headers: () => {
      const headers: Record<string, string> = {};
      propagation.inject(context.active(), headers);
      return contextHeaders(headers);
    },
    within: (parent, work) => context.with(continued(parent), work),
    call: ({ name, parent, work, describe }) =>
      tracer.startActiveSpan(name, { kind: SpanKind.CLIENT }, continued(parent), (span) =>
        work()
          .then((outcome) => {
            const { failed, attributes } = describe(outcome);
            span.setAttributes(attributes);
            if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
            return outcome;
          })
          .catch((error: unknown) => {
            // Without the message of the error, which could hold anything.
            span.setStatus({ code: SpanStatusCode.ERROR });
            throw error;
          })
          .finally(() => span.end()),
      ),
  };
}

/** Returns the context of a stored traceparent; the current one for null or for another form. */
function continued(parent: string | null): Context {
  const now = context.active();
  return parent === null ? now : propagation.extract(now, { traceparent: parent });
}

/** Returns an interceptor that traces only wakes: other calls to Temporal are routine. */
function wakeInterceptor(): WorkflowClientInterceptor {
  const all = new OpenTelemetryWorkflowClientInterceptor();
  return { signalWithStart: (input, next) => all.signalWithStart(input, next) };
}

function contextHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    CONTEXT_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}

/** Makes the log report an unreachable collector, which otherwise loses traces silently. */
function reportTo(log: Logger): void {
  const quiet = (): void => undefined;
  const warn = (message: string): void => log.warn({ detail: message }, 'traces could not be sent');
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    DiagLogLevel.WARN,
  );
}
