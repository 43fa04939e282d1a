/** Checks a template by the service's own rules, without a request to the service. */
import { planTemplateCreate, type PlanTemplateCreate } from '../../api/templates/schema.ts';
import { graphShape } from '../../domain/graph/shape.ts';
import { validateGraph, type GraphProblem } from '../../domain/graph/validate.ts';
import { isReservedTemplate } from '../../domain/plan/template.ts';
import { nonExecutableReasons } from '../../domain/executable.ts';
import { edgeOf, nodeOf } from '../../domain/plan/template.ts';

export interface TemplateValidation {
  readonly valid: boolean;
  readonly executable: boolean;
  readonly graph_shape: string | null;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly problems: readonly GraphProblem[];
  readonly non_executable_reasons: readonly string[];
}

/** Returns all problems of a template request, except those that only the database can show. */
export function validateTemplate(request: unknown): TemplateValidation {
  const parsed = planTemplateCreate.safeParse(request);
  if (!parsed.success)
    return {
      ...REFUSED,
      issues: parsed.error.issues.map(({ path, message }) => ({ path: placeOf(path), message })),
    };
  const issues = refusalsOf(parsed.data);
  const graph = { nodes: parsed.data.nodes.map(nodeOf), edges: parsed.data.edges.map(edgeOf) };
  const problems = validateGraph(graph);
  if (problems.length > 0) return { ...REFUSED, issues, problems };
  const non_executable_reasons = nonExecutableReasons(graph);
  return {
    valid: issues.length === 0,
    executable: issues.length === 0 && non_executable_reasons.length === 0,
    graph_shape: graphShape(graph),
    issues,
    problems,
    non_executable_reasons,
  };
}

const REFUSED: TemplateValidation = {
  valid: false,
  executable: false,
  graph_shape: null,
  issues: [],
  problems: [],
  non_executable_reasons: [],
};

/** Returns the problems for which the service has separate error codes. */
function refusalsOf(template: PlanTemplateCreate): TemplateValidation['issues'] {
  return [
    ...(template.completion_policy?.completion_assurance === undefined
      ? [{ path: 'completion_policy.completion_assurance', message: 'is missing' }]
      : []),
    ...(isReservedTemplate(template.template_key)
      ? [{ path: 'template_key', message: 'is reserved for the service' }]
      : []),
  ];
}

function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${String(part)}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
