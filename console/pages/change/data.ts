/** Reads the document of a change request, and what the movements that it acts on move. */
import { useQueries, useQuery } from '@tanstack/react-query';
import { namedMovements } from '../../../domain/approval/named-movements.ts';
import { callOf } from '../../data/reads.ts';
import { theClient } from '../../data/session.ts';
import { readRows } from '../movement/data.ts';
import { readPlan } from '../movement/model/plan.ts';
import { readDocument } from './document.ts';
import type { Change, Moves, ReadDocument } from './model.ts';

export function useDocument({
  change_request_id,
  hash,
}: Pick<Change, 'change_request_id' | 'hash'>): ReadDocument {
  const document = useQuery({
    queryKey: ['document-reading', change_request_id, hash],
    // The text that has this hash never changes.
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const params = { change_request_id };
      const { text } = await theClient().request('getChangeRequestDocument', { params, signal });
      return readDocument(text, hash);
    },
  });
  return { reading: document.data ?? null, error: document.error };
}

export function useMoves({ subject, before }: Pick<Change, 'subject' | 'before'>): Moves {
  const named = namedMovements(subject, before);
  const movements = useQueries({
    queries: (named ?? []).map(({ movement_id }) => {
      const input = { params: { movement_id } };
      return {
        queryKey: ['getMovement', input],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          callOf('getMovement', { ...input, signal }),
      };
    }),
  });
  const readings = useQueries({
    queries: (named ?? []).map(({ movement_id, plan_hash }) => ({
      queryKey: ['plan-reading', movement_id, plan_hash],
      // Neither a plan's text nor the hash that a request names changes.
      staleTime: Infinity,
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const params = { movement_id };
        const { text } = await theClient().request('getMovementPlan', { params, signal });
        return readPlan(text, plan_hash);
      },
    })),
  });
  const rows = useQuery({
    queryKey: ['allowlist'],
    enabled: named !== null && named.length > 0,
    queryFn: ({ signal }) => readRows(signal),
  });
  return {
    plans:
      named?.map((each, index) => ({
        ...each,
        reading: readings[index]?.data ?? null,
        error: readings[index]?.error ?? movements[index]?.error ?? null,
        movement: movements[index]?.data ?? null,
      })) ?? null,
    rows: rows.data ?? null,
    rowsError: rows.error,
  };
}
