/** Every rule, in the order of docs/architecture.md. */
import { agentRules } from './agents.ts';
import { agentProgramRules } from './agent-programs.ts';
import { bridgeRules } from './bridges.ts';
import { consoleRules } from './console.ts';
import { commandRules } from './commands.ts';
import { consolePageRules } from './console-pages.ts';
import { consoleStreamRules } from './console-stream.ts';
import { finalityRules } from './finality.ts';
import { graphRules } from './graph.ts';
import { laneRules } from './lanes.ts';
import { lockRules } from './locks.ts';
import { sharingRules } from './sharing.ts';
import { signedRules } from './signed.ts';
import { signerRules } from './signers.ts';
import { moneyRules } from './money.ts';
import { processRules } from './processes.ts';
import { saidTwiceRules } from './said-twice.ts';
import { teamRules } from './teams.ts';
import { perpRules } from './perps.ts';
import { perpLaneRules } from './perp-lanes.ts';
import { stopRules } from './stops.ts';
import type { Rule } from './rule.ts';

export const RULES: readonly Rule[] = [
  ...commandRules,
  ...lockRules,
  ...sharingRules,
  ...moneyRules,
  ...stopRules,
  ...teamRules,
  ...laneRules,
  ...finalityRules,
  ...graphRules,
  ...signerRules,
  ...signedRules,
  ...bridgeRules,
  ...perpRules,
  ...perpLaneRules,
  ...agentRules,
  ...agentProgramRules,
  ...consoleRules,
  ...processRules,
  ...consoleStreamRules,
  ...consolePageRules,
  ...saidTwiceRules,
];
