/** The few calls of the API that the bench makes, over connections that stay open. */
import { Pool } from 'undici';
import type { TemplateBody } from '../templates.ts';
import { CONCURRENCY } from './each.ts';

export interface CreatedMovement {
  readonly movement_id: string;
  readonly compiled_plan_hash: string;
}

export interface BenchApi {
  /** Registers a template; answers why it cannot be executed, or nothing. */
  register(template: TemplateBody): Promise<readonly string[]>;
  create(template: TemplateBody): Promise<CreatedMovement>;
  approve(movement: CreatedMovement): Promise<void>;
  reject(movement: CreatedMovement): Promise<void>;
  close(): Promise<void>;
}

export function connectApi(port: number, connections = CONCURRENCY): BenchApi {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const post = async <T>(path: string, body: object, expected: number): Promise<T> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await pool.request({
      method: 'POST',
      path: `/v3${path}`,
      body: JSON.stringify(body),
      headers,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== expected)
      throw new Error(`POST ${path} answered ${answer.statusCode}: ${text}`);
    return JSON.parse(text) as T;
  };
  return {
    register: async (template) =>
      (await post<{ non_executable_reasons: readonly string[] }>('/plan-templates', template, 201))
        .non_executable_reasons,
    create: ({ template_key, version }) =>
      post(
        '/movements',
        { template_key, template_version: version, intent: { asset: 'USDC', amount: '5' } },
        201,
      ),
    approve: async ({ movement_id, compiled_plan_hash }) => {
      await post(
        `/movements/${movement_id}/approve`,
        { compiled_plan_hash, approver_id: 'bench' },
        200,
      );
    },
    reject: async ({ movement_id }) => {
      await post(`/movements/${movement_id}/reject`, {}, 200);
    },
    close: () => pool.close(),
  };
}
