/** The command group `fundctl movements`. */
import type { Group } from '../../command-line/command.ts';
import { cancelTransaction, reassign, resolve } from './movement-nodes.ts';
import {
  acknowledge,
  approve,
  cancel,
  reject,
  resetAllowances,
  resume,
  retry,
  withdrawApproval,
} from './movement-actions.ts';
import { create, preview } from './movement-create.ts';
import { approvers, graph, list, plan, show, timeline } from './movement-reads.ts';
import { watch } from './movement-watch.ts';

export const movements: Group = {
  name: 'movements',
  about: 'Movements: create, look at, approve, follow, and help on',
  commands: [
    list,
    show,
    create,
    preview,
    plan,
    graph,
    watch,
    timeline,
    approvers,
    approve,
    withdrawApproval,
    reject,
    resume,
    retry,
    cancel,
    acknowledge,
    resolve,
    reassign,
    cancelTransaction,
    resetAllowances,
  ],
};
