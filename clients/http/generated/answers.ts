// Written by `npm run client:types` from the API; not by hand.
type Json = Readonly<Record<string, unknown>>;

/** By operation: what a success answers, and what a dry run answers. */
export const ANSWERS: Readonly<
  Record<string, { readonly success: Json; readonly preview?: Json }>
> = {
 "createMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementCreateResponse"
  },
  "preview": {
   "$ref": "#/components/schemas/MovementPreview"
  }
 },
 "listMovements": {
  "success": {
   "$ref": "#/components/schemas/MovementList"
  }
 },
 "getMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementDetail"
  }
 },
 "getMovementPlan": {
  "success": {
   "$ref": "#/components/schemas/JsonObject"
  }
 },
 "getMovementTimeline": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/MovementTimelineEventView"
   }
  }
 },
 "approveMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "withdrawApproval": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "rejectMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "resumeMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "retryMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "cancelMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "resetMovementAllowances": {
  "success": {
   "$ref": "#/components/schemas/ResetAllowancesResponse"
  }
 },
 "acknowledgeMovement": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "resolveMovementNode": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "reassignNodePayment": {
  "success": {
   "$ref": "#/components/schemas/ReassignResponse"
  }
 },
 "cancelNodeTransaction": {
  "success": {
   "$ref": "#/components/schemas/MovementActionResponse"
  }
 },
 "listPeople": {
  "success": {
   "$ref": "#/components/schemas/PersonList"
  }
 },
 "listApproverGroups": {
  "success": {
   "$ref": "#/components/schemas/ApproverGroupList"
  }
 },
 "listApprovalRules": {
  "success": {
   "$ref": "#/components/schemas/ApprovalRuleList"
  }
 },
 "listMovementApprovers": {
  "success": {
   "$ref": "#/components/schemas/MovementApprovers"
  }
 },
 "challengeMovementApproval": {
  "success": {
   "$ref": "#/components/schemas/Challenge"
  }
 },
 "listPasskeys": {
  "success": {
   "$ref": "#/components/schemas/PasskeyList"
  }
 },
 "offerPasskey": {
  "success": {
   "$ref": "#/components/schemas/OfferedPasskey"
  }
 },
 "challengePasskey": {
  "success": {
   "$ref": "#/components/schemas/PasskeyChallenge"
  }
 },
 "listChangeRequests": {
  "success": {
   "$ref": "#/components/schemas/ChangeRequestList"
  }
 },
 "getChangeRequest": {
  "success": {
   "$ref": "#/components/schemas/ChangeRequest"
  }
 },
 "getChangeRequestDocument": {
  "success": {
   "$ref": "#/components/schemas/ChangeRequestDocument"
  }
 },
 "approveChangeRequest": {
  "success": {
   "$ref": "#/components/schemas/ChangeRequest"
  }
 },
 "challengeChangeRequestApproval": {
  "success": {
   "$ref": "#/components/schemas/Challenge"
  }
 },
 "withdrawChangeRequestApproval": {
  "success": {
   "$ref": "#/components/schemas/ChangeRequest"
  }
 },
 "rejectChangeRequest": {
  "success": {
   "$ref": "#/components/schemas/ChangeRequest"
  }
 },
 "withdrawChangeRequest": {
  "success": {
   "$ref": "#/components/schemas/ChangeRequest"
  }
 },
 "getMovementGraph": {
  "success": {
   "$ref": "#/components/schemas/MovementGraph"
  }
 },
 "getPlanTemplateGraph": {
  "success": {
   "$ref": "#/components/schemas/PlanTemplateGraph"
  }
 },
 "createPlanTemplate": {
  "success": {
   "$ref": "#/components/schemas/PlanTemplateCreateResponse"
  }
 },
 "listPlanTemplates": {
  "success": {
   "$ref": "#/components/schemas/PlanTemplateListResponse"
  }
 },
 "getPlanTemplate": {
  "success": {
   "$ref": "#/components/schemas/PlanTemplateDetailResponse"
  }
 },
 "updatePlanTemplateAdmin": {
  "success": {
   "$ref": "#/components/schemas/PlanTemplateAdminResponse"
  }
 },
 "retirePlanTemplate": {
  "success": {
   "$ref": "#/components/schemas/PlanTemplateRetireResponse"
  }
 },
 "listRoutes": {
  "success": {
   "$ref": "#/components/schemas/RouteCatalog"
  }
 },
 "recommendRoutes": {
  "success": {
   "$ref": "#/components/schemas/RouteRecommendations"
  }
 },
 "listExecutors": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/ExecutorRegistryView"
   }
  }
 },
 "updateExecutorStatus": {
  "success": {
   "$ref": "#/components/schemas/ExecutorRegistryView"
  }
 },
 "listSigners": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/SignerRegistryView"
   }
  }
 },
 "updateSignerStatus": {
  "success": {
   "$ref": "#/components/schemas/SignerRegistryView"
  }
 },
 "raiseLaneCaps": {
  "success": {
   "$ref": "#/components/schemas/SignerLane"
  }
 },
 "setExpectedSignerIdentity": {
  "success": {
   "$ref": "#/components/schemas/SetExpectedSignerIdentityResponse"
  }
 },
 "verifyRegistryDrift": {
  "success": {
   "$ref": "#/components/schemas/RegistryDrift"
  }
 },
 "refreshBridgeRegistry": {
  "success": {
   "$ref": "#/components/schemas/BridgeRegistryRefresh"
  }
 },
 "getCutoverMode": {
  "success": {
   "$ref": "#/components/schemas/CutoverMode"
  }
 },
 "setCutoverMode": {
  "success": {
   "$ref": "#/components/schemas/CutoverMode"
  }
 },
 "listBalances": {
  "success": {
   "$ref": "#/components/schemas/BalanceResponse"
  }
 },
 "createCapitalTransfer": {
  "success": {
   "$ref": "#/components/schemas/CapitalTransferView"
  }
 },
 "listCapitalTransfers": {
  "success": {
   "$ref": "#/components/schemas/CapitalTransferList"
  }
 },
 "getCapitalTransfer": {
  "success": {
   "$ref": "#/components/schemas/CapitalTransferView"
  }
 },
 "getCapitalTransferTimeline": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/CapitalTransferEventView"
   }
  }
 },
 "resolveCapitalTransfer": {
  "success": {
   "$ref": "#/components/schemas/CapitalTransferView"
  }
 },
 "createAutoApprovePolicy": {
  "success": {
   "$ref": "#/components/schemas/PolicyResponse"
  }
 },
 "listAutoApprovePolicies": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/PolicyResponse"
   }
  }
 },
 "getAutoApprovePolicy": {
  "success": {
   "$ref": "#/components/schemas/PolicyResponse"
  }
 },
 "updateAutoApprovePolicy": {
  "success": {
   "$ref": "#/components/schemas/PolicyResponse"
  }
 },
 "getBudget": {
  "success": {
   "$ref": "#/components/schemas/BudgetResponse"
  }
 },
 "listCallbacks": {
  "success": {
   "$ref": "#/components/schemas/CallbackList"
  }
 },
 "redeliverCallback": {
  "success": {
   "$ref": "#/components/schemas/CallbackView"
  }
 },
 "listAuditEvents": {
  "success": {
   "$ref": "#/components/schemas/AuditEventList"
  }
 },
 "listRegistryAudit": {
  "success": {
   "$ref": "#/components/schemas/AuditEventList"
  }
 },
 "getAuditSeal": {
  "success": {
   "$ref": "#/components/schemas/AuditSeal"
  }
 },
 "getAgentAuthority": {
  "success": {
   "$ref": "#/components/schemas/AgentAuthority"
  }
 },
 "createTemplateProposal": {
  "success": {
   "$ref": "#/components/schemas/TemplateProposal"
  }
 },
 "createBridgeAttempt": {
  "success": {
   "$ref": "#/components/schemas/BridgeAttempt"
  }
 },
 "listTemplateProposals": {
  "success": {
   "$ref": "#/components/schemas/TemplateProposalListResponse"
  }
 },
 "getTemplateProposal": {
  "success": {
   "$ref": "#/components/schemas/TemplateProposalDetail"
  }
 },
 "promoteTemplateProposal": {
  "success": {
   "$ref": "#/components/schemas/TemplateProposal"
  }
 },
 "searchAll": {
  "success": {
   "$ref": "#/components/schemas/SearchResult"
  }
 },
 "whoami": {
  "success": {
   "$ref": "#/components/schemas/Whoami"
  }
 },
 "createMasterAccount": {
  "success": {
   "$ref": "#/components/schemas/MasterAccount"
  }
 },
 "createStrategyBinding": {
  "success": {
   "$ref": "#/components/schemas/StrategyBinding"
  }
 },
 "getStrategyBinding": {
  "success": {
   "$ref": "#/components/schemas/StrategyBinding"
  }
 },
 "createAgentWallet": {
  "success": {
   "$ref": "#/components/schemas/AgentWallet"
  }
 },
 "listAgentWallets": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/AgentWallet"
   }
  }
 },
 "topUpAgentWallet": {
  "success": {
   "$ref": "#/components/schemas/MovementCreateResponse"
  }
 },
 "pauseStrategy": {
  "success": {
   "$ref": "#/components/schemas/StrategyBinding"
  }
 },
 "getEmergencyState": {
  "success": {
   "$ref": "#/components/schemas/EmergencyState"
  }
 },
 "rotateSigner": {
  "success": {
   "$ref": "#/components/schemas/RotateSignerResponse"
  }
 },
 "listSignerHoldings": {
  "success": {
   "$ref": "#/components/schemas/SignerInventory"
  }
 },
 "listSignerAllowances": {
  "success": {
   "$ref": "#/components/schemas/SignerAllowances"
  }
 },
 "retireSigner": {
  "success": {
   "$ref": "#/components/schemas/RetireSignerResponse"
  }
 },
 "getSignerRotationHistory": {
  "success": {
   "$ref": "#/components/schemas/SignerRotationHistory"
  }
 },
 "listBridgeChains": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/BridgeChain"
   }
  }
 },
 "createBridgeChain": {
  "success": {
   "$ref": "#/components/schemas/BridgeChain"
  }
 },
 "getBridgeChain": {
  "success": {
   "$ref": "#/components/schemas/BridgeChain"
  }
 },
 "replaceBridgeChain": {
  "success": {
   "$ref": "#/components/schemas/BridgeChain"
  }
 },
 "deleteBridgeChain": {
  "success": {
   "$ref": "#/components/schemas/BridgeChain"
  }
 },
 "listPathBaselines": {
  "success": {
   "type": "array",
   "items": {
    "$ref": "#/components/schemas/PathBaseline"
   }
  }
 },
 "createPathBaseline": {
  "success": {
   "$ref": "#/components/schemas/PathBaseline"
  }
 },
 "getPathBaseline": {
  "success": {
   "$ref": "#/components/schemas/PathBaseline"
  }
 },
 "replacePathBaseline": {
  "success": {
   "$ref": "#/components/schemas/PathBaseline"
  }
 },
 "deletePathBaseline": {
  "success": {
   "$ref": "#/components/schemas/PathBaseline"
  }
 },
 "recordDrillPass": {
  "success": {
   "$ref": "#/components/schemas/PathBaseline"
  }
 }
};

/** The schemas that these name. */
export const SCHEMAS: Readonly<Record<string, Json>> = {
 "MovementCreateResponse": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "request_state": {
    "type": "string",
    "enum": [
     "PENDING_APPROVAL",
     "APPROVED",
     "EXECUTING",
     "COMPLETED",
     "FAILED",
     "WAITING_MANUAL_ACTION",
     "MANUAL_INTERVENTION",
     "REJECTED",
     "EXPIRED",
     "CANCELLED"
    ]
   },
   "template": {
    "$ref": "#/components/schemas/TemplateReference"
   },
   "compiled_plan_hash": {
    "type": "string",
    "description": "Lowercase hex SHA-256 of the canonical JSON (RFC 8785) of the compiled plan."
   },
   "current_frontier": {
    "description": "Keys of the nodes that can run or are running.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "approval_status": {
    "type": "string",
    "enum": [
     "pending",
     "approved",
     "rejected",
     "expired"
    ]
   },
   "reservation_status": {
    "type": "string",
    "enum": [
     "none",
     "held",
     "released",
     "consumed"
    ]
   },
   "auto_approve_result": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   },
   "outflow": {
    "description": "What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/OutflowEntry"
    }
   },
   "sends": {
    "description": "Each node that moves funds, with its terms and whom it pays.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ReviewedSend"
    }
   },
   "limits": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/LimitPreview"
    }
   },
   "external_reference": {
    "type": [
     "string",
     "null"
    ]
   },
   "metadata": {
    "description": "Pairs of texts.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "movement_id",
   "request_state",
   "template",
   "compiled_plan_hash",
   "current_frontier",
   "approval_status",
   "reservation_status",
   "auto_approve_result",
   "outflow",
   "sends",
   "limits",
   "external_reference",
   "metadata",
   "expires_at",
   "created_at"
  ],
  "additionalProperties": false
 },
 "Id": {
  "type": "string",
  "format": "uuid",
  "pattern": "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$",
  "description": "A UUID; ids that the service gives are UUIDv7.",
  "example": "01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10"
 },
 "TemplateReference": {
  "type": "object",
  "properties": {
   "template_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   }
  },
  "required": [
   "template_id",
   "template_key",
   "version"
  ],
  "additionalProperties": false
 },
 "JsonObject": {
  "type": "object",
  "additionalProperties": true,
  "description": "Any JSON object."
 },
 "OutflowEntry": {
  "type": "object",
  "properties": {
   "asset": {
    "type": "string"
   },
   "amount": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "asset",
   "amount"
  ],
  "additionalProperties": false
 },
 "Decimal": {
  "type": "string",
  "pattern": "^(0|[1-9][0-9]{0,19})(\\.[0-9]{1,18})?$",
  "description": "A decimal in plain notation, carried as a string.",
  "example": "1250.5"
 },
 "ReviewedSend": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string"
   },
   "action_type": {
    "type": "string"
   },
   "asset": {
    "type": "string"
   },
   "amount": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null where only the output of an earlier node decides it."
   },
   "venue": {
    "type": [
     "string",
     "null"
    ]
   },
   "account_type": {
    "description": "The kind of account at the venue that it leaves; null on a chain.",
    "type": [
     "string",
     "null"
    ]
   },
   "destination_venue": {
    "description": "The account that an internal transfer pays.",
    "type": [
     "string",
     "null"
    ]
   },
   "destination_account_type": {
    "description": "Which kind of that account.",
    "type": [
     "string",
     "null"
    ]
   },
   "sub_account_address": {
    "description": "The sub-account at the perps venue that a top-up pays.",
    "type": [
     "string",
     "null"
    ]
   },
   "chain_id": {
    "description": "The chain that it leaves, or on which a venue pays; null for an exchange.",
    "type": [
     "string",
     "null"
    ]
   },
   "destination_chain_id": {
    "description": "The chain on which a bridge pays.",
    "type": [
     "string",
     "null"
    ]
   },
   "token_address": {
    "type": [
     "string",
     "null"
    ]
   },
   "amount_ref": {
    "description": "The output that decides the amount; null where plan or intent say it.",
    "type": [
     "string",
     "null"
    ]
   },
   "burn_from": {
    "description": "Of a mint: the node whose burn it brings to its payee.",
    "type": [
     "string",
     "null"
    ]
   },
   "network": {
    "description": "On which network an exchange pays.",
    "type": [
     "string",
     "null"
    ]
   },
   "tag": {
    "description": "Behind an address that many share, it chooses whom the exchange pays.",
    "type": [
     "string",
     "null"
    ]
   },
   "max_fee": {
    "description": "Of a burn: how much of it the attester may keep; of a withdrawal: the most that the exchange may charge.",
    "type": [
     "string",
     "null"
    ]
   },
   "finality": {
    "description": "Of a burn: after which finality it is attested.",
    "type": [
     "string",
     "null"
    ]
   },
   "destination_caller": {
    "description": "Of a burn: who alone may mint it; null: anybody.",
    "type": [
     "string",
     "null"
    ]
   },
   "payees": {
    "description": "Whom it pays; empty where it moves between own accounts.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ReviewedPayee"
    }
   }
  },
  "required": [
   "node_key",
   "action_type",
   "asset",
   "amount",
   "venue",
   "account_type",
   "destination_venue",
   "destination_account_type",
   "sub_account_address",
   "chain_id",
   "destination_chain_id",
   "token_address",
   "amount_ref",
   "burn_from",
   "network",
   "tag",
   "max_fee",
   "finality",
   "destination_caller",
   "payees"
  ],
  "additionalProperties": false
 },
 "ReviewedPayee": {
  "type": "object",
  "properties": {
   "address": {
    "type": "string",
    "description": "As it would be sent to; empty where the plan names no payee."
   },
   "chain_family": {
    "type": "string"
   },
   "chain_id": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Null for exchanges, and where the plan names no chain."
   },
   "allowed": {
    "type": "boolean",
    "description": "Whether an active row of the allowlist is about it."
   },
   "usable_after": {
    "description": "When its cooling period ends; null without one.",
    "type": [
     "string",
     "null"
    ]
   },
   "code": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "ADDRESS_NOT_ALLOWLISTED",
       "ADDRESS_CHAIN_ID_REQUIRED",
       "ADDRESS_IN_COOLING_PERIOD"
      ]
     },
     {
      "type": "null"
     }
    ],
    "description": "With what it would be refused now; null where it may be paid."
   },
   "problem": {
    "description": "Why no row can ever be about it.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "address",
   "chain_family",
   "chain_id",
   "allowed",
   "usable_after",
   "code",
   "problem"
  ],
  "additionalProperties": false
 },
 "LimitPreview": {
  "type": "object",
  "properties": {
   "control": {
    "type": "string",
    "description": "`max_amount` or `nodes.<node_key>.max_amount` of the plan; `policy.max_amount_per_request`, `policy.max_amount_per_window`, `policy.max_count_per_window` or `template.daily_cap_amount` of the automatic approval."
   },
   "limit": {
    "$ref": "#/components/schemas/Decimal"
   },
   "used": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "What a window has used already; null for a limit on single amounts."
   },
   "after": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "What would be held against the limit: for the plan's, the largest known."
   },
   "ok": {
    "description": "False does not block the create: the node fails with `MAX_AMOUNT_EXCEEDED` before anything is sent, or the movement waits for a person. Null when it depends on an earlier node's output.",
    "type": [
     "boolean",
     "null"
    ]
   }
  },
  "required": [
   "control",
   "limit",
   "used",
   "after",
   "ok"
  ],
  "additionalProperties": false
 },
 "Timestamp": {
  "type": "string",
  "format": "date-time",
  "description": "ISO 8601 UTC with milliseconds.",
  "example": "2026-11-21T03:35:00.000Z"
 },
 "MovementList": {
  "type": "object",
  "properties": {
   "movements": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/MovementSummary"
    }
   },
   "next_cursor": {
    "description": "Send it as `cursor` for the next page; null on the last.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "movements",
   "next_cursor"
  ],
  "additionalProperties": false
 },
 "MovementSummary": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "template_version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "strategy_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "request_state": {
    "type": "string",
    "enum": [
     "PENDING_APPROVAL",
     "APPROVED",
     "EXECUTING",
     "COMPLETED",
     "FAILED",
     "WAITING_MANUAL_ACTION",
     "MANUAL_INTERVENTION",
     "REJECTED",
     "EXPIRED",
     "CANCELLED"
    ]
   },
   "approval_status": {
    "type": "string",
    "enum": [
     "pending",
     "approved",
     "rejected",
     "expired"
    ]
   },
   "reservation_status": {
    "type": "string",
    "enum": [
     "none",
     "held",
     "released",
     "consumed"
    ]
   },
   "intent": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "outflow": {
    "description": "What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/OutflowEntry"
    }
   },
   "current_frontier": {
    "description": "Keys of the nodes that can run or are running.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "external_reference": {
    "type": [
     "string",
     "null"
    ]
   },
   "metadata": {
    "description": "Pairs of texts.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "error_code": {
    "type": [
     "string",
     "null"
    ]
   },
   "attention_reason": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "approval",
       "approval_expires_soon",
       "approval_unsatisfiable",
       "approval_compromised",
       "unknown_outcome",
       "landed_late",
       "manual_gate",
       "failed",
       "lane_stuck",
       "clock_difference",
       "lane_blocked",
       "delivery_late",
       "executor_unavailable",
       "venue_suspended",
       "withdrawal_quota_exhausted",
       "observed_long",
       "run_stuck"
      ]
     },
     {
      "type": "null"
     }
    ],
    "description": "Why it needs a person; null while it needs none."
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "movement_id",
   "template_key",
   "template_version",
   "strategy_id",
   "request_state",
   "approval_status",
   "reservation_status",
   "intent",
   "outflow",
   "current_frontier",
   "external_reference",
   "metadata",
   "error_code",
   "attention_reason",
   "created_at",
   "updated_at",
   "expires_at"
  ],
  "additionalProperties": false
 },
 "MovementDetail": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "template_version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "strategy_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "request_state": {
    "type": "string",
    "enum": [
     "PENDING_APPROVAL",
     "APPROVED",
     "EXECUTING",
     "COMPLETED",
     "FAILED",
     "WAITING_MANUAL_ACTION",
     "MANUAL_INTERVENTION",
     "REJECTED",
     "EXPIRED",
     "CANCELLED"
    ]
   },
   "approval_status": {
    "type": "string",
    "enum": [
     "pending",
     "approved",
     "rejected",
     "expired"
    ]
   },
   "reservation_status": {
    "type": "string",
    "enum": [
     "none",
     "held",
     "released",
     "consumed"
    ]
   },
   "intent": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "outflow": {
    "description": "What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/OutflowEntry"
    }
   },
   "current_frontier": {
    "description": "Keys of the nodes that can run or are running.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "external_reference": {
    "type": [
     "string",
     "null"
    ]
   },
   "metadata": {
    "description": "Pairs of texts.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "error_code": {
    "type": [
     "string",
     "null"
    ]
   },
   "attention_reason": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "approval",
       "approval_expires_soon",
       "approval_unsatisfiable",
       "approval_compromised",
       "unknown_outcome",
       "landed_late",
       "manual_gate",
       "failed",
       "lane_stuck",
       "clock_difference",
       "lane_blocked",
       "delivery_late",
       "executor_unavailable",
       "venue_suspended",
       "withdrawal_quota_exhausted",
       "observed_long",
       "run_stuck"
      ]
     },
     {
      "type": "null"
     }
    ],
    "description": "Why it needs a person; null while it needs none."
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "template": {
    "$ref": "#/components/schemas/TemplateReference"
   },
   "compiled_plan_hash": {
    "type": "string"
   },
   "input_params": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "labels": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "created_by": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "approver_id": {
    "description": "The label that was sent with the decision.",
    "type": [
     "string",
     "null"
    ]
   },
   "approved_by": {
    "description": "The authenticated key that approved.",
    "type": [
     "string",
     "null"
    ]
   },
   "auto_approve_result": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   },
   "error_message": {
    "type": [
     "string",
     "null"
    ]
   },
   "nodes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/MovementNodeView"
    }
   },
   "artifacts": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ArtifactView"
    }
   },
   "callbacks": {
    "type": "object",
    "properties": {
     "pending": {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     "delivered": {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     "dead_letter": {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     }
    },
    "required": [
     "pending",
     "delivered",
     "dead_letter"
    ],
    "additionalProperties": false
   },
   "attention": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/MovementAttention"
     },
     {
      "type": "null"
     }
    ],
    "description": "Set while a person is needed."
   },
   "agent_authority": {
    "description": "Of an agent's movement that waits for its approval: what its authority covers now.",
    "$ref": "#/components/schemas/MovementAuthority"
   },
   "open_allowances": {
    "description": "Of a movement that has ended: what it allowed others to pull and its nodes did not use. `reset-allowances` takes it back.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/OpenAllowance"
    }
   },
   "review": {
    "description": "Of a movement that waits for its approval: what the approval is about, as things stand now.",
    "$ref": "#/components/schemas/MovementReview"
   },
   "approvals": {
    "description": "Of a movement that waits under approval rules, except for agents.",
    "$ref": "#/components/schemas/MovementApprovals"
   },
   "workflow": {
    "type": "object",
    "properties": {
     "namespace": {
      "type": "string"
     },
     "workflow_id": {
      "type": "string"
     },
     "run_id": {
      "type": [
       "string",
       "null"
      ]
     },
     "ui_url": {
      "type": "string"
     }
    },
    "required": [
     "namespace",
     "workflow_id",
     "run_id",
     "ui_url"
    ],
    "additionalProperties": false
   }
  },
  "required": [
   "movement_id",
   "template_key",
   "template_version",
   "strategy_id",
   "request_state",
   "approval_status",
   "reservation_status",
   "intent",
   "outflow",
   "current_frontier",
   "external_reference",
   "metadata",
   "error_code",
   "attention_reason",
   "created_at",
   "updated_at",
   "expires_at",
   "template",
   "compiled_plan_hash",
   "input_params",
   "labels",
   "created_by",
   "approver_id",
   "approved_by",
   "auto_approve_result",
   "error_message",
   "nodes",
   "artifacts",
   "callbacks",
   "attention",
   "workflow"
  ],
  "additionalProperties": false
 },
 "MovementNodeView": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string"
   },
   "node_kind": {
    "type": "string"
   },
   "action_type": {
    "type": "string"
   },
   "state": {
    "type": "string",
    "enum": [
     "BLOCKED",
     "READY",
     "SUBMITTING",
     "SUBMITTED",
     "OBSERVING",
     "COMPLETED",
     "FAILED",
     "UNKNOWN",
     "SKIPPED",
     "CANCELLED"
    ]
   },
   "attempt": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "executor_binding": {
    "type": "object",
    "properties": {
     "executor_key": {
      "type": "string"
     }
    },
    "required": [
     "executor_key"
    ],
    "additionalProperties": false
   },
   "signer_binding": {
    "anyOf": [
     {
      "type": "object",
      "properties": {
       "signer_key": {
        "type": "string"
       }
      },
      "required": [
       "signer_key"
      ],
      "additionalProperties": false
     },
     {
      "type": "null"
     }
    ],
    "description": "Who signs; a rotation may have replaced the one of the plan."
   },
   "original_signer_binding": {
    "description": "Who signs by the plan that was approved, where a rotation replaced that one.",
    "anyOf": [
     {
      "type": "object",
      "properties": {
       "signer_key": {
        "type": "string"
       }
      },
      "required": [
       "signer_key"
      ],
      "additionalProperties": false
     },
     {
      "type": "null"
     }
    ]
   },
   "asset": {
    "type": "string",
    "description": "What the node moves or looks for."
   },
   "amount": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "Before its amount is fixed: the most it can be; null while only an output decides."
   },
   "description": {
    "description": "Of a gate: what its template says that a person is to look at.",
    "type": [
     "string",
     "null"
    ]
   },
   "idempotency_key": {
    "type": "string",
    "description": "The key under which its executor is called in this attempt, and by which its send can be looked up."
   },
   "destination": {
    "description": "Whom it pays: by its plan before it runs, as it was prepared after.",
    "type": [
     "string",
     "null"
    ]
   },
   "external_ref": {
    "type": [
     "string",
     "null"
    ]
   },
   "output": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   },
   "error_code": {
    "type": [
     "string",
     "null"
    ]
   },
   "error_message": {
    "type": [
     "string",
     "null"
    ]
   },
   "started_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "completed_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "node_key",
   "node_kind",
   "action_type",
   "state",
   "attempt",
   "executor_binding",
   "signer_binding",
   "asset",
   "amount",
   "description",
   "idempotency_key",
   "destination",
   "external_ref",
   "output",
   "error_code",
   "error_message",
   "started_at",
   "updated_at",
   "completed_at"
  ],
  "additionalProperties": false
 },
 "ArtifactView": {
  "type": "object",
  "properties": {
   "artifact_id": {
    "$ref": "#/components/schemas/Id"
   },
   "node_key": {
    "type": "string"
   },
   "attempt": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "kind": {
    "type": "string"
   },
   "data": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "artifact_id",
   "node_key",
   "attempt",
   "kind",
   "data",
   "created_at"
  ],
  "additionalProperties": false
 },
 "MovementAttention": {
  "type": "object",
  "properties": {
   "reason": {
    "type": "string",
    "enum": [
     "approval",
     "approval_expires_soon",
     "approval_unsatisfiable",
     "approval_compromised",
     "unknown_outcome",
     "landed_late",
     "manual_gate",
     "failed",
     "lane_stuck",
     "clock_difference",
     "lane_blocked",
     "delivery_late",
     "executor_unavailable",
     "venue_suspended",
     "withdrawal_quota_exhausted",
     "observed_long",
     "run_stuck"
    ]
   },
   "message": {
    "type": "string",
    "description": "The reason in a sentence."
   },
   "node_key": {
    "description": "The node that it is about; null for an approval.",
    "type": [
     "string",
     "null"
    ]
   },
   "description": {
    "description": "Of a gate that waits: what its template says that a person is to look at.",
    "type": [
     "string",
     "null"
    ]
   },
   "idempotency_key": {
    "description": "Of an unknown outcome: the key by which its executor or venue can look it up.",
    "type": [
     "string",
     "null"
    ]
   },
   "last_answer": {
    "description": "What was last said about the node, by its executor or on its way there.",
    "type": [
     "string",
     "null"
    ]
   },
   "attempt": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "The present attempt of the node."
   },
   "max_attempts": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Errors before a send after which the attempt gives up. Looks at what became of a send have no such end."
   },
   "errors": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Errors of the attempt so far, and consecutive looks without an answer."
   },
   "next_look_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ],
    "description": "When its outcome is looked up again; null: never."
   },
   "actions": {
    "description": "What may be done now, and what comes of it.",
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "action": {
       "type": "string"
      },
      "consequence": {
       "type": "string"
      },
      "node_key": {
       "type": "string"
      },
      "attempt": {
       "type": "integer",
       "minimum": -9007199254740991,
       "maximum": 9007199254740991
      },
      "state": {
       "type": "string",
       "enum": [
        "BLOCKED",
        "READY",
        "SUBMITTING",
        "SUBMITTED",
        "OBSERVING",
        "COMPLETED",
        "FAILED",
        "UNKNOWN",
        "SKIPPED",
        "CANCELLED"
       ]
      },
      "attention_reason": {
       "description": "Of an acknowledge: the reason that it deals with.",
       "type": "string",
       "enum": [
        "approval",
        "approval_expires_soon",
        "approval_unsatisfiable",
        "approval_compromised",
        "unknown_outcome",
        "landed_late",
        "manual_gate",
        "failed",
        "lane_stuck",
        "clock_difference",
        "lane_blocked",
        "delivery_late",
        "executor_unavailable",
        "venue_suspended",
        "withdrawal_quota_exhausted",
        "observed_long",
        "run_stuck"
       ]
      },
      "outcomes": {
       "description": "Of a resolve: the outcomes that may be stated now.",
       "type": "array",
       "items": {
        "type": "string",
        "enum": [
         "completed",
         "failed",
         "abandoned"
        ]
       }
      },
      "claim_places": {
       "description": "Of a resolve that may be `completed`: where the request has to name what completed the node, in one of these places. Absent where its type claims nothing.",
       "type": "array",
       "items": {
        "type": "string"
       }
      }
     },
     "required": [
      "action",
      "consequence"
     ],
     "additionalProperties": false
    }
   }
  },
  "required": [
   "reason",
   "message",
   "node_key",
   "description",
   "idempotency_key",
   "last_answer",
   "attempt",
   "max_attempts",
   "errors",
   "next_look_at",
   "actions"
  ],
  "additionalProperties": false
 },
 "MovementAuthority": {
  "type": "object",
  "properties": {
   "authority_key": {
    "type": "string"
   },
   "max_notional": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "allowed_assets": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "allowed_chains": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "granted": {
    "anyOf": [
     {
      "type": "object",
      "properties": {
       "asset": {
        "type": "string"
       },
       "amount": {
        "$ref": "#/components/schemas/Decimal"
       }
      },
      "required": [
       "asset",
       "amount"
      ],
      "additionalProperties": false
     },
     {
      "type": "null"
     }
    ],
    "description": "What an administrator has promoted of this template version."
   },
   "uncovered": {
    "description": "What of the movement the authority does not cover, as its limits are now.",
    "type": "array",
    "items": {
     "type": "string",
     "enum": [
      "max_notional_exceeded",
      "asset_not_allowed",
      "chain_not_allowed"
     ]
    }
   }
  },
  "required": [
   "authority_key",
   "max_notional",
   "allowed_assets",
   "allowed_chains",
   "granted",
   "uncovered"
  ],
  "additionalProperties": false
 },
 "OpenAllowance": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string",
    "description": "The node that set it."
   },
   "chain_id": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "owner": {
    "type": "string",
    "description": "Whose tokens may be pulled."
   },
   "token_address": {
    "type": "string"
   },
   "spender": {
    "type": "string"
   },
   "asset": {
    "type": "string"
   },
   "amount": {
    "$ref": "#/components/schemas/Decimal"
   }
  },
  "required": [
   "node_key",
   "chain_id",
   "owner",
   "token_address",
   "spender",
   "asset",
   "amount"
  ],
  "additionalProperties": false
 },
 "MovementReview": {
  "type": "object",
  "properties": {
   "sends": {
    "description": "Each node that moves funds, with its terms and whom it pays.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ReviewedSend"
    }
   },
   "limits": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/LimitPreview"
    }
   },
   "balances": {
    "description": "Each pool of funds that the plan draws from.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ReviewedBalance"
    }
   },
   "would_fail": {
    "description": "What would be refused after the create, as things stand now; it may change.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/WouldFail"
    }
   }
  },
  "required": [
   "sends",
   "limits",
   "balances",
   "would_fail"
  ],
  "additionalProperties": false
 },
 "ReviewedBalance": {
  "type": "object",
  "properties": {
   "venue_key": {
    "type": "string"
   },
   "account_type": {
    "type": "string"
   },
   "asset": {
    "type": "string"
   },
   "draws": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "What the plan takes from there at most; null where nothing bounds it."
   },
   "withdrawable": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "As the venue last answered; null where it is not known."
   },
   "effective_withdrawable": {
    "anyOf": [
     {
      "type": "string",
      "pattern": "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$",
      "example": "999749.5"
     },
     {
      "type": "null"
     }
    ],
    "description": "Of that, what no other movement or transfer holds."
   },
   "fetched_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "stale": {
    "type": [
     "boolean",
     "null"
    ]
   }
  },
  "required": [
   "venue_key",
   "account_type",
   "asset",
   "draws",
   "withdrawable",
   "effective_withdrawable",
   "fetched_at",
   "stale"
  ],
  "additionalProperties": false
 },
 "WouldFail": {
  "type": "object",
  "properties": {
   "at": {
    "type": "string",
    "enum": [
     "approve",
     "dispatch"
    ],
    "description": "`approve`: an approval is refused; `dispatch`: the node fails when it is reached."
   },
   "node_key": {
    "description": "Null where it is about the plan as a whole.",
    "type": [
     "string",
     "null"
    ]
   },
   "error": {
    "type": "string",
    "example": "ADDRESS_IN_COOLING_PERIOD"
   },
   "message": {
    "type": "string"
   }
  },
  "required": [
   "at",
   "node_key",
   "error",
   "message"
  ],
  "additionalProperties": false
 },
 "MovementApprovals": {
  "type": "object",
  "properties": {
   "rules": {
    "description": "The rules that hold, all of them together.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "required": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "rule": {
       "type": "string"
      },
      "group": {
       "type": "string"
      },
      "threshold": {
       "type": "integer",
       "minimum": -9007199254740991,
       "maximum": 9007199254740991,
       "description": "How many members of the group must approve."
      },
      "received": {
       "type": "integer",
       "minimum": -9007199254740991,
       "maximum": 9007199254740991,
       "description": "Each person counts for one group of a rule."
      },
      "missing": {
       "type": "integer",
       "minimum": -9007199254740991,
       "maximum": 9007199254740991
      }
     },
     "required": [
      "rule",
      "group",
      "threshold",
      "received",
      "missing"
     ],
     "additionalProperties": false
    }
   },
   "decisions": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "person": {
       "type": "string"
      },
      "name": {
       "type": "string"
      },
      "decision": {
       "type": "string",
       "const": "approve"
      },
      "at": {
       "$ref": "#/components/schemas/Timestamp"
      },
      "reason": {
       "type": [
        "string",
        "null"
       ]
      },
      "evidence": {
       "type": "string",
       "enum": [
        "shared_secret",
        "passkey"
       ],
       "description": "What shows it: the assertion of a passkey, which anybody can verify, or a request that was signed with a secret that the service knows, too."
      },
      "counts": {
       "type": "boolean",
       "description": "False once it has expired, or the person has left the groups, or the key was revoked: then it is missing again. What was withdrawn is not listed."
      }
     },
     "required": [
      "person",
      "name",
      "decision",
      "at",
      "reason",
      "evidence",
      "counts"
     ],
     "additionalProperties": false
    }
   },
   "you": {
    "type": "object",
    "properties": {
     "may": {
      "type": "boolean",
      "description": "Whether an approval of the caller would count."
     },
     "why_not": {
      "anyOf": [
       {
        "type": "string",
        "enum": [
         "initiator",
         "payee_author",
         "template_author",
         "not_in_group",
         "no_passkey",
         "no_person",
         "role",
         "not_waiting"
        ]
       },
       {
        "type": "null"
       }
      ]
     },
     "evidence": {
      "type": "string",
      "enum": [
       "any",
       "passkey"
      ],
      "description": "`passkey`: the approval needs `assertion`."
     },
     "approved": {
      "type": "boolean",
      "description": "Whether the caller’s person has approved; `withdraw-approval` takes it back."
     }
    },
    "required": [
     "may",
     "why_not",
     "evidence",
     "approved"
    ],
    "additionalProperties": false,
    "description": "The caller of this request."
   }
  },
  "required": [
   "rules",
   "required",
   "decisions",
   "you"
  ],
  "additionalProperties": false
 },
 "MovementTimelineEventView": {
  "type": "object",
  "properties": {
   "event_id": {
    "$ref": "#/components/schemas/Id"
   },
   "sequence": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Per movement, without gaps."
   },
   "event_type": {
    "type": "string",
    "enum": [
     "movement_created",
     "auto_approve_evaluated",
     "approval_recorded",
     "approval_withdrawn",
     "request_approved",
     "request_rejected",
     "request_expired",
     "request_resumed",
     "request_retried",
     "request_cancelled",
     "request_completed",
     "request_failed",
     "request_attention",
     "frontier_advanced",
     "request_acknowledged",
     "node_ready",
     "node_preflight_passed",
     "node_prepared",
     "node_submitting",
     "node_submitted",
     "node_observing",
     "node_completed",
     "node_failed",
     "node_unknown",
     "node_recovered",
     "node_skipped",
     "node_cancelled",
     "node_requeued",
     "transaction_mined",
     "transaction_replaced",
     "transaction_cancel_requested",
     "transaction_cancelling",
     "transaction_dropped",
     "transaction_displaced",
     "transaction_mined_late",
     "signer_remapped",
     "condition_error",
     "callback_delivered",
     "callback_dead_lettered"
    ]
   },
   "node_key": {
    "type": [
     "string",
     "null"
    ]
   },
   "attempt": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "from_state": {
    "type": [
     "string",
     "null"
    ]
   },
   "to_state": {
    "type": [
     "string",
     "null"
    ]
   },
   "actor": {
    "type": "object",
    "properties": {
     "type": {
      "type": "string",
      "enum": [
       "key",
       "system",
       "executor",
       "operator"
      ]
     },
     "client_id": {
      "type": [
       "string",
       "null"
      ]
     },
     "key_id": {
      "type": [
       "string",
       "null"
      ]
     },
     "label": {
      "type": "string"
     }
    },
    "required": [
     "type"
    ],
    "additionalProperties": false
   },
   "message": {
    "type": "string"
   },
   "data": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "occurred_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "event_id",
   "sequence",
   "event_type",
   "node_key",
   "attempt",
   "from_state",
   "to_state",
   "actor",
   "message",
   "data",
   "occurred_at"
  ],
  "additionalProperties": false
 },
 "MovementActionResponse": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "request_state": {
    "type": "string",
    "enum": [
     "PENDING_APPROVAL",
     "APPROVED",
     "EXECUTING",
     "COMPLETED",
     "FAILED",
     "WAITING_MANUAL_ACTION",
     "MANUAL_INTERVENTION",
     "REJECTED",
     "EXPIRED",
     "CANCELLED"
    ]
   },
   "current_frontier": {
    "description": "Keys of the nodes that can run or are running.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "reservation_status": {
    "type": "string",
    "enum": [
     "none",
     "held",
     "released",
     "consumed"
    ]
   },
   "approvals": {
    "description": "Of an approval under approval rules, or its withdrawal, while approvals are missing.",
    "$ref": "#/components/schemas/MovementApprovals"
   }
  },
  "required": [
   "movement_id",
   "request_state",
   "current_frontier",
   "reservation_status"
  ],
  "additionalProperties": false
 },
 "ResetAllowancesResponse": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "open_allowances": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/OpenAllowance"
    }
   },
   "resets": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AllowanceReset"
    }
   }
  },
  "required": [
   "movement_id",
   "open_allowances",
   "resets"
  ],
  "additionalProperties": false
 },
 "AllowanceReset": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string",
    "description": "The node that set the allowance."
   },
   "movement_id": {
    "description": "The movement that takes it back.",
    "$ref": "#/components/schemas/Id"
   },
   "request_state": {
    "type": "string",
    "enum": [
     "PENDING_APPROVAL",
     "APPROVED",
     "EXECUTING",
     "COMPLETED",
     "FAILED",
     "WAITING_MANUAL_ACTION",
     "MANUAL_INTERVENTION",
     "REJECTED",
     "EXPIRED",
     "CANCELLED"
    ]
   }
  },
  "required": [
   "node_key",
   "movement_id",
   "request_state"
  ],
  "additionalProperties": false
 },
 "ReassignResponse": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "request_state": {
    "type": "string",
    "enum": [
     "PENDING_APPROVAL",
     "APPROVED",
     "EXECUTING",
     "COMPLETED",
     "FAILED",
     "WAITING_MANUAL_ACTION",
     "MANUAL_INTERVENTION",
     "REJECTED",
     "EXPIRED",
     "CANCELLED"
    ]
   },
   "current_frontier": {
    "description": "Keys of the nodes that can run or are running.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "reservation_status": {
    "type": "string",
    "enum": [
     "none",
     "held",
     "released",
     "consumed"
    ]
   },
   "approvals": {
    "description": "Of an approval under approval rules, or its withdrawal, while approvals are missing.",
    "$ref": "#/components/schemas/MovementApprovals"
   },
   "to": {
    "description": "The movement of the node that the payment is for.",
    "$ref": "#/components/schemas/MovementActionResponse"
   },
   "payments": {
    "description": "All that the node had claimed.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ReassignedPayment"
    }
   }
  },
  "required": [
   "movement_id",
   "request_state",
   "current_frontier",
   "reservation_status",
   "to",
   "payments"
  ],
  "additionalProperties": false
 },
 "ReassignedPayment": {
  "type": "object",
  "properties": {
   "source": {
    "type": "string"
   },
   "reference": {
    "type": "string"
   },
   "amount": {
    "$ref": "#/components/schemas/Decimal"
   }
  },
  "required": [
   "source",
   "reference",
   "amount"
  ],
  "additionalProperties": false
 },
 "PersonList": {
  "type": "object",
  "properties": {
   "people": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/Person"
    }
   }
  },
  "required": [
   "people"
  ],
  "additionalProperties": false
 },
 "Person": {
  "type": "object",
  "properties": {
   "person": {
    "type": "string"
   },
   "name": {
    "type": "string"
   },
   "identities": {
    "description": "Ids of API clients, and `dashboard:<operator>`.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "groups": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "has_passkey": {
    "type": "boolean",
    "description": "Whether a passkey is in force."
   }
  },
  "required": [
   "person",
   "name",
   "identities",
   "groups",
   "has_passkey"
  ],
  "additionalProperties": false
 },
 "ApproverGroupList": {
  "type": "object",
  "properties": {
   "groups": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ApproverGroup"
    }
   }
  },
  "required": [
   "groups"
  ],
  "additionalProperties": false
 },
 "ApproverGroup": {
  "type": "object",
  "properties": {
   "name": {
    "type": "string"
   },
   "members": {
    "type": "array",
    "items": {
     "type": "string"
    }
   }
  },
  "required": [
   "name",
   "members"
  ],
  "additionalProperties": false
 },
 "ApprovalRuleList": {
  "type": "object",
  "properties": {
   "rules": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ApprovalRule"
    }
   }
  },
  "required": [
   "rules"
  ],
  "additionalProperties": false
 },
 "ApprovalRule": {
  "type": "object",
  "properties": {
   "name": {
    "type": "string"
   },
   "revision": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "applies_to": {
    "type": "string",
    "enum": [
     "movement",
     "capital_transfer",
     "allowlist",
     "policies",
     "templates",
     "executors",
     "signers",
     "bridge",
     "perps",
     "cutover",
     "keys",
     "approval_rules"
    ],
    "description": "Movements, capital transfers, or a kind of change that lets more money go."
   },
   "when": {
    "type": "object",
    "properties": {
     "template_keys": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "strategy_ids": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "origins": {
      "type": "array",
      "items": {
       "type": "string",
       "enum": [
        "api",
        "agent",
        "dashboard",
        "service"
       ]
      }
     },
     "assets": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "outflow_above": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "asset": {
         "type": "string",
         "description": "`*`: any asset."
        },
        "amount": {
         "$ref": "#/components/schemas/Decimal"
        },
        "within_seconds": {
         "description": "Adds up what the same person created, or pays the same payee.",
         "type": "integer",
         "minimum": -9007199254740991,
         "maximum": 9007199254740991
        }
       },
       "required": [
        "asset",
        "amount"
       ],
       "additionalProperties": false
      }
     },
     "new_payee_within_seconds": {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     "venues": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "amount_above": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "asset": {
         "type": "string"
        },
        "amount": {
         "$ref": "#/components/schemas/Decimal"
        }
       },
       "required": [
        "asset",
        "amount"
       ],
       "additionalProperties": false
      }
     }
    },
    "additionalProperties": false,
    "description": "All that is named must match; empty: all."
   },
   "require": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "group": {
       "type": "string"
      },
      "threshold": {
       "type": "integer",
       "minimum": -9007199254740991,
       "maximum": 9007199254740991,
       "description": "How many members of the group must approve."
      }
     },
     "required": [
      "group",
      "threshold"
     ],
     "additionalProperties": false
    }
   },
   "initiator_may_approve": {
    "type": "boolean"
   },
   "payee_author_may_approve": {
    "type": "boolean"
   },
   "template_author_may_approve": {
    "type": "boolean"
   },
   "expires_after_seconds": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "reason_required": {
    "type": "boolean"
   },
   "evidence": {
    "type": "string",
    "enum": [
     "any",
     "passkey"
    ],
    "description": "`passkey`: only approvals that were signed with a passkey count."
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "name",
   "revision",
   "applies_to",
   "when",
   "require",
   "initiator_may_approve",
   "payee_author_may_approve",
   "template_author_may_approve",
   "reason_required",
   "evidence",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "MovementApprovers": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "approvals": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/MovementApprovals"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null where no rule holds: then one approval is enough."
   },
   "approvers": {
    "description": "Of each rule every member of its groups who has an identity, and whoever approved and is no member.",
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "rule": {
       "type": "string"
      },
      "person": {
       "type": "string"
      },
      "name": {
       "type": "string"
      },
      "groups": {
       "type": "array",
       "items": {
        "type": "string"
       }
      },
      "may": {
       "type": "boolean"
      },
      "why_not": {
       "anyOf": [
        {
         "type": "string",
         "enum": [
          "initiator",
          "payee_author",
          "template_author",
          "not_in_group",
          "no_passkey",
          "no_person",
          "role",
          "not_waiting"
         ]
        },
        {
         "type": "null"
        }
       ]
      },
      "decided_at": {
       "anyOf": [
        {
         "$ref": "#/components/schemas/Timestamp"
        },
        {
         "type": "null"
        }
       ]
      },
      "counts": {
       "type": "boolean"
      }
     },
     "required": [
      "rule",
      "person",
      "name",
      "groups",
      "may",
      "why_not",
      "decided_at",
      "counts"
     ],
     "additionalProperties": false
    }
   }
  },
  "required": [
   "movement_id",
   "approvals",
   "approvers"
  ],
  "additionalProperties": false
 },
 "Challenge": {
  "type": "object",
  "properties": {
   "statement": {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
    "description": "The text whose SHA-256 was the challenge."
   },
   "challenge": {
    "type": "string",
    "description": "SHA-256 of the statement, in base64url."
   },
   "rp_id": {
    "type": "string",
    "description": "The relying party: the host name of the console."
   },
   "credential_ids": {
    "description": "The passkeys of the caller’s person.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "statement",
   "challenge",
   "rp_id",
   "credential_ids",
   "expires_at"
  ],
  "additionalProperties": false
 },
 "PasskeyList": {
  "type": "object",
  "properties": {
   "passkeys": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/Passkey"
    }
   }
  },
  "required": [
   "passkeys"
  ],
  "additionalProperties": false
 },
 "Passkey": {
  "type": "object",
  "properties": {
   "credential_id": {
    "type": "string"
   },
   "person": {
    "type": "string"
   },
   "fingerprint": {
    "type": "string",
    "description": "By which people compare it."
   },
   "origin": {
    "type": "string",
    "description": "The console at which it was made."
   },
   "enrolled_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "revoked_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "credential_id",
   "person",
   "fingerprint",
   "origin",
   "enrolled_at",
   "revoked_at"
  ],
  "additionalProperties": false
 },
 "PasskeyChallenge": {
  "type": "object",
  "properties": {
   "statement": {
    "type": "string",
    "minLength": 1,
    "maxLength": 1000,
    "description": "The text whose SHA-256 was the challenge."
   },
   "challenge": {
    "type": "string",
    "description": "SHA-256 of the statement, in base64url."
   },
   "rp_id": {
    "type": "string",
    "description": "The relying party: the host name of the console."
   },
   "credential_ids": {
    "description": "The passkeys of the caller’s person.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "user_id": {
    "type": "string"
   },
   "user_name": {
    "type": "string"
   }
  },
  "required": [
   "statement",
   "challenge",
   "rp_id",
   "credential_ids",
   "expires_at",
   "user_id",
   "user_name"
  ],
  "additionalProperties": false
 },
 "OfferedPasskey": {
  "type": "object",
  "properties": {
   "credential_id": {
    "type": "string"
   },
   "person": {
    "type": "string"
   },
   "fingerprint": {
    "type": "string"
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "credential_id",
   "person",
   "fingerprint",
   "created_at"
  ],
  "additionalProperties": false
 },
 "ChangeRequestList": {
  "type": "object",
  "properties": {
   "change_requests": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ChangeRequest"
    }
   },
   "next_cursor": {
    "description": "Send it as `cursor` for the next page; null on the last.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "change_requests",
   "next_cursor"
  ],
  "additionalProperties": false
 },
 "ChangeRequest": {
  "type": "object",
  "properties": {
   "change_request_id": {
    "$ref": "#/components/schemas/Id"
   },
   "kind": {
    "type": "string",
    "enum": [
     "allowlist",
     "policies",
     "templates",
     "executors",
     "signers",
     "bridge",
     "perps",
     "cutover",
     "keys",
     "approval_rules",
     "capital_transfer",
     "movement_action"
    ]
   },
   "state": {
    "type": "string",
    "enum": [
     "open",
     "applied",
     "rejected",
     "withdrawn",
     "failed",
     "outdated",
     "expired"
    ],
    "description": "`applied`: done, exactly as approved. `failed`: the call was refused when it was made (`code`). `outdated`: what it names has changed meanwhile, or the database was restored."
   },
   "hash": {
    "type": "string",
    "description": "SHA-256 of the document; an approval names it."
   },
   "author": {
    "description": "Who wants it: an API client, `dashboard:<operator>` or `fundadmin:<person>`.",
    "type": [
     "string",
     "null"
    ]
   },
   "method": {
    "type": "string"
   },
   "path": {
    "type": "string"
   },
   "body": {
    "$ref": "#/components/schemas/JsonValue"
   },
   "subject": {
    "type": "string",
    "description": "The table of the row that changes."
   },
   "before": {
    "description": "The row as it was; null: there was none.",
    "$ref": "#/components/schemas/JsonValue"
   },
   "after": {
    "description": "The row that is written, without what is made on writing.",
    "$ref": "#/components/schemas/JsonValue"
   },
   "approvals": {
    "$ref": "#/components/schemas/MovementApprovals"
   },
   "break_glass": {
    "type": "boolean",
    "description": "Whether the owner of the database made the change alone."
   },
   "reason": {
    "type": [
     "string",
     "null"
    ]
   },
   "code": {
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "ended_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "ended_by": {
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "change_request_id",
   "kind",
   "state",
   "hash",
   "author",
   "method",
   "path",
   "body",
   "subject",
   "before",
   "after",
   "approvals",
   "break_glass",
   "reason",
   "code",
   "created_at",
   "expires_at",
   "ended_at",
   "ended_by"
  ],
  "additionalProperties": false
 },
 "JsonValue": {
  "description": "Any JSON value."
 },
 "ChangeRequestDocument": {
  "type": "object",
  "properties": {
   "id": {
    "$ref": "#/components/schemas/Id"
   },
   "kind": {
    "type": "string",
    "enum": [
     "allowlist",
     "policies",
     "templates",
     "executors",
     "signers",
     "bridge",
     "perps",
     "cutover",
     "keys",
     "approval_rules",
     "capital_transfer",
     "movement_action"
    ]
   },
   "author": {
    "$ref": "#/components/schemas/JsonValue"
   },
   "method": {
    "type": "string"
   },
   "path": {
    "type": "string"
   },
   "body": {
    "$ref": "#/components/schemas/JsonValue"
   },
   "subject": {
    "type": "string"
   },
   "before": {
    "$ref": "#/components/schemas/JsonValue"
   },
   "after": {
    "$ref": "#/components/schemas/JsonValue"
   }
  },
  "required": [
   "id",
   "kind",
   "author",
   "method",
   "path",
   "body",
   "subject",
   "before",
   "after"
  ],
  "additionalProperties": {}
 },
 "MovementGraph": {
  "type": "object",
  "properties": {
   "movement_id": {
    "$ref": "#/components/schemas/Id"
   },
   "request_state": {
    "type": "string",
    "enum": [
     "PENDING_APPROVAL",
     "APPROVED",
     "EXECUTING",
     "COMPLETED",
     "FAILED",
     "WAITING_MANUAL_ACTION",
     "MANUAL_INTERVENTION",
     "REJECTED",
     "EXPIRED",
     "CANCELLED"
    ]
   },
   "template_key": {
    "type": "string"
   },
   "template_version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "nodes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/MovementGraphNode"
    }
   },
   "edges": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/MovementGraphEdge"
    }
   }
  },
  "required": [
   "movement_id",
   "request_state",
   "template_key",
   "template_version",
   "nodes",
   "edges"
  ],
  "additionalProperties": false
 },
 "MovementGraphNode": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string"
   },
   "node_kind": {
    "type": "string",
    "enum": [
     "action",
     "observe",
     "manual_gate",
     "compensation",
     "post_action"
    ]
   },
   "action_type": {
    "type": "string"
   },
   "state": {
    "type": "string",
    "enum": [
     "BLOCKED",
     "READY",
     "SUBMITTING",
     "SUBMITTED",
     "OBSERVING",
     "COMPLETED",
     "FAILED",
     "UNKNOWN",
     "SKIPPED",
     "CANCELLED"
    ]
   },
   "attempt": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "error_code": {
    "type": [
     "string",
     "null"
    ]
   },
   "executor_key": {
    "type": "string"
   },
   "signer_key": {
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "node_key",
   "node_kind",
   "action_type",
   "state",
   "attempt",
   "error_code",
   "executor_key",
   "signer_key"
  ],
  "additionalProperties": false
 },
 "MovementGraphEdge": {
  "type": "object",
  "properties": {
   "from": {
    "type": "string"
   },
   "to": {
    "type": "string"
   },
   "edge_type": {
    "type": "string",
    "enum": [
     "on_success",
     "on_failure",
     "on_timeout",
     "on_cancel",
     "on_manual_resume"
    ]
   },
   "condition_expr": {
    "type": [
     "string",
     "null"
    ]
   },
   "priority": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "join_key": {
    "type": [
     "string",
     "null"
    ]
   },
   "status": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "pending",
       "fired",
       "dead"
      ]
     },
     {
      "type": "null"
     }
    ],
    "description": "`dead` will not fire as things stand; a retry may change that. Null only after a cancel, for another edge into a node that the cancel may have started."
   }
  },
  "required": [
   "from",
   "to",
   "edge_type",
   "condition_expr",
   "priority",
   "join_key",
   "status"
  ],
  "additionalProperties": false
 },
 "PlanTemplateGraph": {
  "type": "object",
  "properties": {
   "template_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "graph_shape": {
    "type": "string",
    "enum": [
     "linear",
     "branching",
     "merging",
     "split",
     "hybrid"
    ]
   },
   "nodes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TemplateGraphNode"
    }
   },
   "edges": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TemplateGraphEdge"
    }
   }
  },
  "required": [
   "template_id",
   "template_key",
   "version",
   "graph_shape",
   "nodes",
   "edges"
  ],
  "additionalProperties": false
 },
 "TemplateGraphNode": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string"
   },
   "node_kind": {
    "type": "string",
    "enum": [
     "action",
     "observe",
     "manual_gate",
     "compensation",
     "post_action"
    ]
   },
   "action_type": {
    "type": "string"
   },
   "executor_selector": {
    "anyOf": [
     {
      "type": "object",
      "properties": {
       "action_type": {
        "type": "string"
       },
       "provider": {
        "type": "string"
       },
       "chain_family": {
        "type": "string"
       }
      },
      "required": [
       "action_type"
      ],
      "additionalProperties": false
     },
     {
      "type": "null"
     }
    ],
    "description": "Null selects by the node's own action type."
   },
   "signer_selector": {
    "anyOf": [
     {
      "type": "object",
      "properties": {
       "chain_family": {
        "type": "string"
       },
       "profile": {
        "type": "string"
       }
      },
      "required": [
       "chain_family"
      ],
      "additionalProperties": false
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "node_key",
   "node_kind",
   "action_type",
   "executor_selector",
   "signer_selector"
  ],
  "additionalProperties": false
 },
 "TemplateGraphEdge": {
  "type": "object",
  "properties": {
   "from": {
    "type": "string"
   },
   "to": {
    "type": "string"
   },
   "edge_type": {
    "type": "string",
    "enum": [
     "on_success",
     "on_failure",
     "on_timeout",
     "on_cancel",
     "on_manual_resume"
    ]
   },
   "condition_expr": {
    "type": [
     "string",
     "null"
    ]
   },
   "priority": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "join_key": {
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "from",
   "to",
   "edge_type",
   "condition_expr",
   "priority",
   "join_key"
  ],
  "additionalProperties": false
 },
 "PlanTemplateCreateResponse": {
  "type": "object",
  "properties": {
   "template_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "graph_shape": {
    "type": "string",
    "enum": [
     "linear",
     "branching",
     "merging",
     "split",
     "hybrid"
    ]
   },
   "requires_graph_runtime": {
    "type": "boolean"
   },
   "executable_in_v3_0": {
    "type": "boolean"
   },
   "non_executable_reasons": {
    "description": "Each as `<code>:<node_key or from->to>`.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "completion_policy": {
    "$ref": "#/components/schemas/CompletionPolicyView"
   }
  },
  "required": [
   "template_id",
   "template_key",
   "version",
   "graph_shape",
   "requires_graph_runtime",
   "executable_in_v3_0",
   "non_executable_reasons",
   "completion_policy"
  ],
  "additionalProperties": false
 },
 "CompletionPolicyView": {
  "type": "object",
  "properties": {
   "completion_assurance": {
    "type": "string",
    "enum": [
     "provider_completed",
     "destination_observed",
     "destination_credited",
     "destination_finalized",
     "protocol_finalized"
    ]
   }
  },
  "required": [
   "completion_assurance"
  ],
  "additionalProperties": false
 },
 "PlanTemplateListResponse": {
  "type": "object",
  "properties": {
   "plan_templates": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/PlanTemplateSummary"
    }
   },
   "next_cursor": {
    "description": "Send it as `cursor` for the next page; null on the last.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "plan_templates",
   "next_cursor"
  ],
  "additionalProperties": false
 },
 "PlanTemplateSummary": {
  "type": "object",
  "properties": {
   "template_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "graph_shape": {
    "type": "string",
    "enum": [
     "linear",
     "branching",
     "merging",
     "split",
     "hybrid"
    ]
   },
   "requires_graph_runtime": {
    "type": "boolean"
   },
   "executable_in_v3_0": {
    "type": "boolean"
   },
   "non_executable_reasons": {
    "description": "Each as `<code>:<node_key or from->to>`.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "completion_policy": {
    "$ref": "#/components/schemas/CompletionPolicyView"
   },
   "name": {
    "type": "string"
   },
   "owner": {
    "type": [
     "string",
     "null"
    ]
   },
   "created_by": {
    "description": "The client that registered it.",
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "status": {
    "type": "string",
    "enum": [
     "active",
     "retired"
    ],
    "description": "`retired`: nothing new is made from it; movements that it made continue."
   },
   "retired_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "retired_by": {
    "description": "The client that retired it.",
    "type": [
     "string",
     "null"
    ]
   },
   "retired_reason": {
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "template_id",
   "template_key",
   "version",
   "graph_shape",
   "requires_graph_runtime",
   "executable_in_v3_0",
   "non_executable_reasons",
   "completion_policy",
   "name",
   "owner",
   "created_by",
   "created_at",
   "status",
   "retired_at",
   "retired_by",
   "retired_reason"
  ],
  "additionalProperties": false
 },
 "PlanTemplateDetailResponse": {
  "type": "object",
  "properties": {
   "template_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "graph_shape": {
    "type": "string",
    "enum": [
     "linear",
     "branching",
     "merging",
     "split",
     "hybrid"
    ]
   },
   "requires_graph_runtime": {
    "type": "boolean"
   },
   "executable_in_v3_0": {
    "type": "boolean"
   },
   "non_executable_reasons": {
    "description": "Each as `<code>:<node_key or from->to>`.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "completion_policy": {
    "$ref": "#/components/schemas/CompletionPolicyView"
   },
   "name": {
    "type": "string"
   },
   "owner": {
    "type": [
     "string",
     "null"
    ]
   },
   "created_by": {
    "description": "The client that registered it.",
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "status": {
    "type": "string",
    "enum": [
     "active",
     "retired"
    ],
    "description": "`retired`: nothing new is made from it; movements that it made continue."
   },
   "retired_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "retired_by": {
    "description": "The client that retired it.",
    "type": [
     "string",
     "null"
    ]
   },
   "retired_reason": {
    "type": [
     "string",
     "null"
    ]
   },
   "approval_policy": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "risk_controls": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "nodes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/PlanNodeView"
    }
   },
   "edges": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/PlanEdgeView"
    }
   },
   "auto_approve_enabled": {
    "type": "boolean"
   },
   "daily_cap_amount": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "daily_cap_asset": {
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "template_id",
   "template_key",
   "version",
   "graph_shape",
   "requires_graph_runtime",
   "executable_in_v3_0",
   "non_executable_reasons",
   "completion_policy",
   "name",
   "owner",
   "created_by",
   "created_at",
   "status",
   "retired_at",
   "retired_by",
   "retired_reason",
   "approval_policy",
   "risk_controls",
   "nodes",
   "edges",
   "auto_approve_enabled",
   "daily_cap_amount",
   "daily_cap_asset"
  ],
  "additionalProperties": false
 },
 "PlanNodeView": {
  "type": "object",
  "properties": {
   "id": {
    "$ref": "#/components/schemas/Id"
   },
   "node_key": {
    "type": "string",
    "minLength": 1,
    "maxLength": 128,
    "pattern": "^(?!\\.{1,2}$)[^\\u0000-\\u001f\\u007f-\\u009f%/\\\\#?]*$"
   },
   "node_kind": {
    "type": "string",
    "enum": [
     "action",
     "observe",
     "manual_gate",
     "compensation",
     "post_action"
    ]
   },
   "action_type": {
    "type": "string",
    "minLength": 1,
    "maxLength": 128
   },
   "executor_selector": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/ExecutorSelector"
     },
     {
      "type": "null"
     }
    ]
   },
   "signer_selector": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/SignerSelector"
     },
     {
      "type": "null"
     }
    ]
   },
   "input_schema": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   },
   "config": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   },
   "has_side_effect": {
    "type": "boolean"
   },
   "timeout_policy": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/TimeoutPolicy"
     },
     {
      "type": "null"
     }
    ]
   },
   "retry_policy": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/RetryPolicy"
     },
     {
      "type": "null"
     }
    ]
   },
   "risk_patch": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "id",
   "node_key",
   "node_kind",
   "action_type",
   "executor_selector",
   "signer_selector",
   "input_schema",
   "config",
   "has_side_effect",
   "timeout_policy",
   "retry_policy",
   "risk_patch"
  ],
  "additionalProperties": false
 },
 "ExecutorSelector": {
  "type": "object",
  "properties": {
   "action_type": {
    "type": "string",
    "minLength": 1,
    "maxLength": 128
   },
   "provider": {
    "type": "string",
    "minLength": 1,
    "maxLength": 128
   },
   "chain_family": {
    "type": "string",
    "minLength": 1,
    "maxLength": 128
   }
  },
  "required": [
   "action_type"
  ],
  "additionalProperties": false
 },
 "SignerSelector": {
  "type": "object",
  "properties": {
   "chain_family": {
    "type": "string",
    "minLength": 1,
    "maxLength": 128
   },
   "profile": {
    "type": "string",
    "minLength": 1,
    "maxLength": 128
   }
  },
  "required": [
   "chain_family"
  ],
  "additionalProperties": false
 },
 "TimeoutPolicy": {
  "type": "object",
  "properties": {
   "execution_seconds": {
    "description": "From the start of the node to its submit.",
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 31536000
   },
   "observe_seconds": {
    "description": "From the submit to the proven end; absent means no end.",
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 31536000
   },
   "attention_seconds": {
    "description": "From the submit: a node that is observed for longer needs a person (`observed_long`). It ends nothing; absent means the usual time of the action type.",
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 31536000
   }
  },
  "additionalProperties": false
 },
 "RetryPolicy": {
  "type": "object",
  "properties": {
   "max_attempts": {
    "type": "integer",
    "minimum": 1,
    "maximum": 10000
   },
   "initial_interval_seconds": {
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 604800
   },
   "backoff_coefficient": {
    "type": "number",
    "minimum": 1,
    "maximum": 100
   },
   "max_interval_seconds": {
    "type": "number",
    "exclusiveMinimum": 0,
    "maximum": 604800
   }
  },
  "additionalProperties": false,
  "description": "For errors of preflight, prepare, recover and observe; a submit is never repeated by it."
 },
 "PlanEdgeView": {
  "type": "object",
  "properties": {
   "id": {
    "$ref": "#/components/schemas/Id"
   },
   "from": {
    "type": "string"
   },
   "to": {
    "type": "string"
   },
   "edge_type": {
    "type": "string",
    "enum": [
     "on_success",
     "on_failure",
     "on_timeout",
     "on_cancel",
     "on_manual_resume"
    ]
   },
   "condition_expr": {
    "type": [
     "string",
     "null"
    ]
   },
   "priority": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "join_key": {
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "id",
   "from",
   "to",
   "edge_type",
   "condition_expr",
   "priority",
   "join_key"
  ],
  "additionalProperties": false
 },
 "PlanTemplateAdminResponse": {
  "type": "object",
  "properties": {
   "template_key": {
    "type": "string"
   },
   "latest_version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "auto_approve_enabled": {
    "type": "boolean"
   },
   "daily_cap_amount": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "daily_cap_asset": {
    "type": [
     "string",
     "null"
    ]
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "template_key",
   "latest_version",
   "auto_approve_enabled",
   "daily_cap_amount",
   "daily_cap_asset",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "PlanTemplateRetireResponse": {
  "type": "object",
  "properties": {
   "template_id": {
    "$ref": "#/components/schemas/Id"
   },
   "template_key": {
    "type": "string"
   },
   "version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "status": {
    "type": "string",
    "enum": [
     "active",
     "retired"
    ]
   },
   "retired_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "retired_by": {
    "description": "The client that retired it.",
    "type": [
     "string",
     "null"
    ]
   },
   "retired_reason": {
    "type": "string"
   },
   "latest_active_version": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Of the same key, to be used instead; null where none is active."
   }
  },
  "required": [
   "template_id",
   "template_key",
   "version",
   "status",
   "retired_at",
   "retired_by",
   "retired_reason",
   "latest_active_version"
  ],
  "additionalProperties": false
 },
 "RouteCatalog": {
  "type": "object",
  "properties": {
   "routes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/RouteView"
    }
   },
   "generated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "routes",
   "generated_at"
  ],
  "additionalProperties": false
 },
 "RouteView": {
  "type": "object",
  "properties": {
   "template_key": {
    "type": "string"
   },
   "name": {
    "type": "string"
   },
   "version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "graph_shape": {
    "type": "string",
    "enum": [
     "linear",
     "branching",
     "merging",
     "split",
     "hybrid"
    ]
   },
   "node_count": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "executable": {
    "type": "boolean"
   },
   "metadata": {
    "type": "object",
    "properties": {
     "transport_family": {
      "type": "string",
      "enum": [
       "cex_withdrawal",
       "onchain_transfer",
       "bridge",
       "perp",
       "mixed"
      ]
     },
     "source_venue": {
      "type": [
       "string",
       "null"
      ]
     },
     "destination_venue": {
      "type": [
       "string",
       "null"
      ]
     },
     "asset": {
      "description": "Null: the route carries the movement's asset.",
      "type": [
       "string",
       "null"
      ]
     }
    },
    "required": [
     "transport_family",
     "source_venue",
     "destination_venue",
     "asset"
    ],
    "additionalProperties": false
   },
   "bridge": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/RouteBridge"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null for a route without bridges."
   },
   "stats": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/RouteStats"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null when no movement ended in that time."
   },
   "fee_policy": {
    "description": "expected_fee, max_fee_abs, max_fee_pct and max_fee_usd of risk_controls, where present.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "risk_controls": {
    "description": "max_amount and min_amount, where present.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "health": {
    "description": "Only with `include_health=true`.",
    "$ref": "#/components/schemas/RouteHealth"
   }
  },
  "required": [
   "template_key",
   "name",
   "version",
   "graph_shape",
   "node_count",
   "executable",
   "metadata",
   "bridge",
   "stats",
   "fee_policy",
   "risk_controls"
  ],
  "additionalProperties": false
 },
 "RouteBridge": {
  "type": "object",
  "properties": {
   "latency_baseline_seconds": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Of the longest way over its bridges; null where one of them is not known."
   },
   "max_fee": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "What its bridges may take of the amount; null where one of them is not known."
   },
   "legs": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/RouteBridgeLeg"
    }
   }
  },
  "required": [
   "latency_baseline_seconds",
   "max_fee",
   "legs"
  ],
  "additionalProperties": false
 },
 "RouteBridgeLeg": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string",
    "description": "The node that burns or sends."
   },
   "lane": {
    "type": "string",
    "enum": [
     "burn_and_mint",
     "bridge_c"
    ]
   },
   "source_chain_id": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Null: left to the caller."
   },
   "destination_chain_id": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "asset": {
    "description": "The node's, else the requested one; null: the movement's.",
    "type": [
     "string",
     "null"
    ]
   },
   "finality": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "fast",
       "standard"
      ]
     },
     {
      "type": "null"
     }
    ]
   },
   "latency_baseline_seconds": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "latency_source": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "bridge_registry",
       "chain_finality",
       "fast_attestation"
      ]
     },
     {
      "type": "null"
     }
    ]
   },
   "max_fee": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "The most that a burn may cost, in units of the asset."
   },
   "fee_native_budget": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "The most that a send over the path may cost, in `fee_native_asset`."
   },
   "fee_native_asset": {
    "description": "The coin of the source chain.",
    "type": [
     "string",
     "null"
    ]
   },
   "usable": {
    "description": "Null: unknown.",
    "type": [
     "boolean",
     "null"
    ]
   },
   "problem": {
    "anyOf": [
     {
      "type": "object",
      "properties": {
       "error_code": {
        "type": "string",
        "example": "BRIDGE_PATH_NOT_READY"
       },
       "reason": {
        "type": "string"
       }
      },
      "required": [
       "error_code",
       "reason"
      ],
      "additionalProperties": false
     },
     {
      "type": "null"
     }
    ],
    "description": "What the node would fail with now."
   }
  },
  "required": [
   "node_key",
   "lane",
   "source_chain_id",
   "destination_chain_id",
   "asset",
   "finality",
   "latency_baseline_seconds",
   "latency_source",
   "max_fee",
   "fee_native_budget",
   "fee_native_asset",
   "usable",
   "problem"
  ],
  "additionalProperties": false
 },
 "RouteStats": {
  "type": "object",
  "properties": {
   "total_completed": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "total_failed": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "success_rate": {
    "type": "number",
    "description": "total_completed over both.",
    "example": 0.98
   },
   "avg_duration_seconds": {
    "description": "Of completed movements, from approval to end; null while there is none.",
    "type": [
     "number",
     "null"
    ]
   },
   "max_duration_seconds": {
    "type": [
     "number",
     "null"
    ]
   }
  },
  "required": [
   "total_completed",
   "total_failed",
   "success_rate",
   "avg_duration_seconds",
   "max_duration_seconds"
  ],
  "additionalProperties": false,
  "description": "Movements that ended in this or the previous calendar month (UTC)."
 },
 "RouteHealth": {
  "type": "object",
  "properties": {
   "status": {
    "type": "string",
    "enum": [
     "healthy",
     "degraded",
     "unavailable"
    ]
   },
   "executors": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "executor_key": {
       "type": "string",
       "description": "Where none or several match: what the node selects by."
      },
      "health_state": {
       "type": "string",
       "enum": [
        "up",
        "down",
        "unknown",
        "missing",
        "ambiguous"
       ]
      },
      "reason": {
       "description": "Why it cannot work on this route, where it could on others.",
       "type": "string"
      }
     },
     "required": [
      "executor_key",
      "health_state"
     ],
     "additionalProperties": false
    }
   }
  },
  "required": [
   "status",
   "executors"
  ],
  "additionalProperties": false
 },
 "RouteRecommendations": {
  "type": "object",
  "properties": {
   "recommendations": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/RouteRecommendation"
    }
   },
   "request": {
    "$ref": "#/components/schemas/RouteRecommendationRequest"
   },
   "generated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "recommendations",
   "request",
   "generated_at"
  ],
  "additionalProperties": false
 },
 "RouteRecommendation": {
  "type": "object",
  "properties": {
   "rank": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "From 1; feasible routes first."
   },
   "score": {
    "type": "number",
    "description": "0 to 1; 0 for an infeasible route."
   },
   "score_parts": {
    "$ref": "#/components/schemas/RouteScoreParts"
   },
   "feasibility": {
    "type": "string",
    "enum": [
     "feasible",
     "infeasible"
    ]
   },
   "infeasible_reasons": {
    "type": "array",
    "items": {
     "type": "string",
     "enum": [
      "not_executable",
      "executor_unavailable",
      "amount_below_min",
      "amount_above_max"
     ]
    }
   },
   "route": {
    "$ref": "#/components/schemas/RouteView"
   }
  },
  "required": [
   "rank",
   "score",
   "score_parts",
   "feasibility",
   "infeasible_reasons",
   "route"
  ],
  "additionalProperties": false
 },
 "RouteScoreParts": {
  "type": "object",
  "properties": {
   "speed": {
    "type": "object",
    "properties": {
     "weight": {
      "type": "number"
     },
     "value": {
      "type": "number",
      "description": "0 to 1"
     },
     "avg_duration_seconds": {
      "type": [
       "number",
       "null"
      ]
     },
     "latency_baseline_seconds": {
      "anyOf": [
       {
        "type": "integer",
        "minimum": -9007199254740991,
        "maximum": 9007199254740991
       },
       {
        "type": "null"
       }
      ],
      "description": "Of the bridges; it stands in for the duration until a movement completed."
     },
     "basis": {
      "anyOf": [
       {
        "type": "string",
        "enum": [
         "avg_duration",
         "latency_baseline"
        ]
       },
       {
        "type": "null"
       }
      ]
     }
    },
    "required": [
     "weight",
     "value",
     "avg_duration_seconds",
     "latency_baseline_seconds",
     "basis"
    ],
    "additionalProperties": false
   },
   "cost": {
    "type": "object",
    "properties": {
     "weight": {
      "type": "number"
     },
     "value": {
      "type": "number",
      "description": "0 to 1"
     },
     "fee": {
      "anyOf": [
       {
        "$ref": "#/components/schemas/Decimal"
       },
       {
        "type": "null"
       }
      ]
     },
     "basis": {
      "example": "expected_fee",
      "type": [
       "string",
       "null"
      ]
     }
    },
    "required": [
     "weight",
     "value",
     "fee",
     "basis"
    ],
    "additionalProperties": false
   },
   "health": {
    "type": "object",
    "properties": {
     "weight": {
      "type": "number"
     },
     "value": {
      "type": "number",
      "description": "0 to 1"
     },
     "status": {
      "type": "string",
      "enum": [
       "healthy",
       "degraded",
       "unavailable"
      ]
     }
    },
    "required": [
     "weight",
     "value",
     "status"
    ],
    "additionalProperties": false
   },
   "reliability": {
    "type": "object",
    "properties": {
     "value": {
      "type": "number"
     },
     "total_completed": {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     "total_failed": {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     }
    },
    "required": [
     "value",
     "total_completed",
     "total_failed"
    ],
    "additionalProperties": false
   }
  },
  "required": [
   "speed",
   "cost",
   "health",
   "reliability"
  ],
  "additionalProperties": false,
  "description": "score = reliability.value * (sum of weight * value of speed, cost and health)"
 },
 "RouteRecommendationRequest": {
  "type": "object",
  "properties": {
   "asset": {
    "type": "string",
    "minLength": 1,
    "maxLength": 32,
    "pattern": "^[!-~]*$",
    "description": "Compared in upper case.",
    "example": "USDC"
   },
   "source_venue": {
    "default": null,
    "description": "Only routes that begin there.",
    "anyOf": [
     {
      "type": "string",
      "minLength": 1,
      "maxLength": 128
     },
     {
      "type": "null"
     }
    ]
   },
   "destination_venue": {
    "default": null,
    "description": "Only routes that end there.",
    "anyOf": [
     {
      "type": "string",
      "minLength": 1,
      "maxLength": 128
     },
     {
      "type": "null"
     }
    ]
   },
   "amount": {
    "default": null,
    "description": "Null skips the checks of limits.",
    "anyOf": [
     {
      "$ref": "#/components/schemas/PositiveDecimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "priority": {
    "default": "speed",
    "type": "string",
    "enum": [
     "speed",
     "cost"
    ]
   }
  },
  "required": [
   "asset",
   "source_venue",
   "destination_venue",
   "amount",
   "priority"
  ],
  "additionalProperties": false,
  "examples": [
   {
    "asset": "USDC",
    "source_venue": "paper-main",
    "destination_venue": null,
    "amount": "1250.5",
    "priority": "cost"
   }
  ]
 },
 "PositiveDecimal": {
  "type": "string",
  "pattern": "^(?=.*[1-9])(0|[1-9][0-9]{0,19})(\\.[0-9]{1,18})?$",
  "description": "A decimal greater than zero, in plain notation, carried as a string.",
  "example": "1250.5"
 },
 "ExecutorRegistryView": {
  "type": "object",
  "properties": {
   "executor_key": {
    "type": "string"
   },
   "kind": {
    "type": "string",
    "enum": [
     "local",
     "remote",
     "task_queue"
    ]
   },
   "status": {
    "type": "string",
    "enum": [
     "active",
     "disabled"
    ]
   },
   "health_state": {
    "type": "string",
    "enum": [
     "up",
     "down",
     "unknown"
    ]
   },
   "health_checked_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "action_types": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "provider": {
    "type": [
     "string",
     "null"
    ]
   },
   "chain_family": {
    "type": [
     "string",
     "null"
    ]
   },
   "endpoint": {
    "type": [
     "string",
     "null"
    ]
   },
   "source": {
    "type": "string",
    "enum": [
     "persisted",
     "memory",
     "both"
    ],
    "description": "Whether the entry is stored, registered in this process, or both."
   },
   "updated_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "executor_key",
   "kind",
   "status",
   "health_state",
   "health_checked_at",
   "action_types",
   "provider",
   "chain_family",
   "endpoint",
   "source",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "SignerRegistryView": {
  "type": "object",
  "properties": {
   "signer_key": {
    "type": "string"
   },
   "status": {
    "type": "string",
    "enum": [
     "active",
     "disabled",
     "deprecated",
     "retired"
    ]
   },
   "backend": {
    "type": "string",
    "enum": [
     "local",
     "managed_kms_evm",
     "remote",
     "noop"
    ]
   },
   "chain_family": {
    "type": "string"
   },
   "profile": {
    "type": [
     "string",
     "null"
    ]
   },
   "expected_signer_address": {
    "description": "The operator's pin; EVM only.",
    "type": [
     "string",
     "null"
    ]
   },
   "observed_signer_address": {
    "description": "What the last health refresh saw; diagnostic.",
    "type": [
     "string",
     "null"
    ]
   },
   "observed_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "identity_state": {
    "type": "string",
    "enum": [
     "match",
     "mismatch",
     "unpinned",
     "unobserved",
     "not_applicable"
    ]
   },
   "lanes": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/SignerLane"
    },
    "description": "The nonces of its address, one entry for each chain on which it has sent."
   },
   "source": {
    "type": "string",
    "enum": [
     "persisted",
     "memory",
     "both"
    ],
    "description": "Whether the entry is stored, registered in this process, or both."
   },
   "updated_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "signer_key",
   "status",
   "backend",
   "chain_family",
   "profile",
   "expected_signer_address",
   "observed_signer_address",
   "observed_at",
   "identity_state",
   "lanes",
   "source",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "SignerLane": {
  "type": "object",
  "properties": {
   "chain_id": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "address": {
    "type": "string"
   },
   "next_nonce": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "The nonce that is claimed next."
   },
   "mined_nonce": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "How many transactions its newest block counts, as last seen; null before that."
   },
   "final_nonce": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "The same of its newest final block."
   },
   "seen_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "open_nonces": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Claimed, and in no block that was seen."
   },
   "oldest_open_seconds": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "unfinal_nonces": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Mined, and not final yet."
   },
   "stuck": {
    "$ref": "#/components/schemas/StuckNonce"
   },
   "caps": {
    "$ref": "#/components/schemas/LaneCaps"
   },
   "raise": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/LaneRaise"
     },
     {
      "type": "null"
     }
    ]
   },
   "finality": {
    "$ref": "#/components/schemas/ChainFinality"
   }
  },
  "required": [
   "chain_id",
   "address",
   "next_nonce",
   "mined_nonce",
   "final_nonce",
   "seen_at",
   "open_nonces",
   "oldest_open_seconds",
   "unfinal_nonces",
   "stuck",
   "caps",
   "raise",
   "finality"
  ],
  "additionalProperties": false
 },
 "StuckNonce": {
  "anyOf": [
   {
    "type": "object",
    "properties": {
     "nonce": {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     "why": {
      "type": "string"
     },
     "since": {
      "$ref": "#/components/schemas/Timestamp"
     }
    },
    "required": [
     "nonce",
     "why",
     "since"
    ],
    "additionalProperties": false
   },
   {
    "type": "null"
   }
  ],
  "description": "The lowest nonce that is to be used up by a transaction that moves nothing, where that one cannot be signed or paid for."
 },
 "LaneCaps": {
  "anyOf": [
   {
    "type": "object",
    "properties": {
     "max_gas_cost_wei": {
      "type": "string"
     },
     "max_fee_per_gas_gwei": {
      "type": [
       "string",
       "null"
      ]
     }
    },
    "required": [
     "max_gas_cost_wei",
     "max_fee_per_gas_gwei"
    ],
    "additionalProperties": false
   },
   {
    "type": "null"
   }
  ],
  "description": "What a transaction that takes a used nonce of this lane may cost now: the larger of the chain's caps and the lane's raise. First sends keep the chain's. Null where the chain is not bound."
 },
 "LaneRaise": {
  "type": "object",
  "properties": {
   "max_gas_cost_wei": {
    "type": [
     "string",
     "null"
    ]
   },
   "max_fee_per_gas_gwei": {
    "type": [
     "string",
     "null"
    ]
   },
   "reason": {
    "type": "string"
   },
   "raised_by": {
    "type": "object",
    "properties": {
     "type": {
      "type": "string",
      "enum": [
       "key",
       "system",
       "executor",
       "operator"
      ]
     },
     "client_id": {
      "type": [
       "string",
       "null"
      ]
     },
     "key_id": {
      "type": [
       "string",
       "null"
      ]
     },
     "label": {
      "type": "string"
     }
    },
    "required": [
     "type"
    ],
    "additionalProperties": false
   },
   "raised_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "until": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "max_gas_cost_wei",
   "max_fee_per_gas_gwei",
   "reason",
   "raised_by",
   "raised_at",
   "until"
  ],
  "additionalProperties": false,
  "description": "What an admin raised the chain's caps to for this lane; null is as the chain has it."
 },
 "ChainFinality": {
  "anyOf": [
   {
    "type": "object",
    "properties": {
     "read": {
      "type": "string",
      "enum": [
       "finalized_tag",
       "confirmations"
      ]
     },
     "confirmations": {
      "anyOf": [
       {
        "type": "integer",
        "minimum": -9007199254740991,
        "maximum": 9007199254740991
       },
       {
        "type": "null"
       }
      ],
      "description": "Blocks, the transaction's own included; null where the node's tag says it."
     },
     "typical_age_seconds": {
      "anyOf": [
       {
        "type": "integer",
        "minimum": -9007199254740991,
        "maximum": 9007199254740991
       },
       {
        "type": "null"
       }
      ]
     },
     "override_reason": {
      "description": "Why less than what is known of the chain is enough here; null if it is not.",
      "type": [
       "string",
       "null"
      ]
     }
    },
    "required": [
     "read",
     "confirmations",
     "typical_age_seconds",
     "override_reason"
    ],
    "additionalProperties": false
   },
   {
    "type": "null"
   }
  ],
  "description": "How a block of this chain becomes final; null where the chain is not bound."
 },
 "SetExpectedSignerIdentityResponse": {
  "type": "object",
  "properties": {
   "outcome": {
    "type": "string",
    "enum": [
     "changed",
     "noop"
    ]
   },
   "signer_key": {
    "type": "string"
   },
   "expected_signer_address": {
    "type": "string"
   },
   "previous_expected_address": {
    "description": "The pin that was stored before.",
    "type": [
     "string",
     "null"
    ]
   },
   "runtime_address": {
    "type": "string"
   },
   "audit_event_id": {
    "$ref": "#/components/schemas/Id"
   }
  },
  "required": [
   "outcome",
   "signer_key",
   "expected_signer_address",
   "previous_expected_address",
   "runtime_address",
   "audit_event_id"
  ],
  "additionalProperties": false
 },
 "RegistryDrift": {
  "type": "object",
  "properties": {
   "ok": {
    "type": "boolean"
   },
   "checked_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "drift": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "kind": {
       "type": "string",
       "enum": [
        "executor",
        "signer"
       ]
      },
      "key": {
       "type": "string"
      },
      "problem": {
       "type": "string",
       "enum": [
        "missing_in_memory",
        "missing_in_database",
        "endpoint_changed",
        "identity_mismatch",
        "identity_unavailable"
       ]
      },
      "expected": {
       "type": [
        "string",
        "null"
       ]
      },
      "observed": {
       "type": [
        "string",
        "null"
       ]
      }
     },
     "required": [
      "kind",
      "key",
      "problem",
      "expected",
      "observed"
     ],
     "additionalProperties": false
    }
   }
  },
  "required": [
   "ok",
   "checked_at",
   "drift"
  ],
  "additionalProperties": false
 },
 "BridgeRegistryRefresh": {
  "type": "object",
  "properties": {
   "refreshed_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "changed": {
    "description": "Chains whose facts changed.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "stale": {
    "description": "Chains whose snapshots are stale now.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "chains": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/BridgeChain"
    }
   }
  },
  "required": [
   "refreshed_at",
   "changed",
   "stale",
   "chains"
  ],
  "additionalProperties": false
 },
 "BridgeChain": {
  "type": "object",
  "properties": {
   "chain": {
    "type": "string"
   },
   "endpoint_identity": {
    "type": "string"
   },
   "finality_age_seconds": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "snapshot_version": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Grows whenever the facts of the endpoint change; 0 before the first."
   },
   "snapshot_stale": {
    "type": "boolean",
    "description": "The endpoint did not answer the last refresh, was never read, or was read too long ago."
   },
   "stale_detected_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "operator_label": {
    "type": [
     "string",
     "null"
    ]
   },
   "snapshot_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ],
    "description": "When the endpoint of this identity last answered."
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "chain",
   "endpoint_identity",
   "finality_age_seconds",
   "snapshot_version",
   "snapshot_stale",
   "stale_detected_at",
   "operator_label",
   "snapshot_at",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "CutoverMode": {
  "type": "object",
  "properties": {
   "mode": {
    "type": "string",
    "enum": [
     "normal",
     "drain",
     "frozen"
    ]
   },
   "previous_mode": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "normal",
       "drain",
       "frozen"
      ]
     },
     {
      "type": "null"
     }
    ]
   },
   "reason": {
    "type": [
     "string",
     "null"
    ]
   },
   "changed_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "changed_by": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "mode",
   "previous_mode",
   "reason",
   "changed_at",
   "changed_by"
  ],
  "additionalProperties": false
 },
 "BalanceResponse": {
  "type": "object",
  "properties": {
   "balances": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/Balance"
    }
   },
   "venues": {
    "description": "Each venue of these balances.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/BalanceVenue"
    }
   }
  },
  "required": [
   "balances",
   "venues"
  ],
  "additionalProperties": false
 },
 "Balance": {
  "type": "object",
  "properties": {
   "venue_key": {
    "type": "string"
   },
   "asset": {
    "type": "string"
   },
   "account_type": {
    "type": "string"
   },
   "available": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "withdrawable": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "total": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "details": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ]
   },
   "fetched_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "stale": {
    "type": "boolean"
   },
   "svc_pending_outflow": {
    "$ref": "#/components/schemas/Decimal"
   },
   "svc_effective_withdrawable": {
    "anyOf": [
     {
      "type": "string",
      "pattern": "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$",
      "example": "999749.5"
     },
     {
      "type": "null"
     }
    ]
   },
   "svc_effective_reason": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "capital_transfer_reservation",
       "movement_reservation",
       "mixed_reservations"
      ]
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "venue_key",
   "asset",
   "account_type",
   "available",
   "withdrawable",
   "total",
   "details",
   "fetched_at",
   "stale",
   "svc_pending_outflow",
   "svc_effective_withdrawable",
   "svc_effective_reason"
  ],
  "additionalProperties": false
 },
 "BalanceVenue": {
  "type": "object",
  "properties": {
   "venue_key": {
    "type": "string"
   },
   "withdrawals": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/VenueWithdrawals"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null where the venue shows nothing of them, and where what it showed is as old as a stale balance."
   }
  },
  "required": [
   "venue_key",
   "withdrawals"
  ],
  "additionalProperties": false
 },
 "VenueWithdrawals": {
  "type": "object",
  "properties": {
   "quota": {
    "anyOf": [
     {
      "type": "object",
      "properties": {
       "left": {
        "$ref": "#/components/schemas/Decimal"
       },
       "unit": {
        "type": "string",
        "description": "An asset, or `USD`.",
        "example": "USD"
       }
      },
      "required": [
       "left",
       "unit"
      ],
      "additionalProperties": false
     },
     {
      "type": "null"
     }
    ],
    "description": "What the account may still withdraw; null: the venue does not show it."
   },
   "closed": {
    "description": "What the venue does not pay out at present, of the assets that the account has. That something is missing does not prove that it is paid out.",
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "asset": {
       "type": "string"
      },
      "network": {
       "description": "As the venue names it; null: every network of the asset.",
       "type": [
        "string",
        "null"
       ]
      },
      "opens_at": {
       "anyOf": [
        {
         "$ref": "#/components/schemas/Timestamp"
        },
        {
         "type": "null"
        }
       ],
       "description": "When the venue expects to pay out again; null: not known."
      }
     },
     "required": [
      "asset",
      "network",
      "opens_at"
     ],
     "additionalProperties": false
    }
   },
   "read_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "quota",
   "closed",
   "read_at"
  ],
  "additionalProperties": false
 },
 "CapitalTransferView": {
  "type": "object",
  "properties": {
   "transfer_id": {
    "$ref": "#/components/schemas/Id"
   },
   "request_state": {
    "type": "string",
    "enum": [
     "CREATED",
     "SUBMITTING",
     "PENDING_PROVIDER_CONFIRMATION",
     "COMPLETED",
     "FAILED",
     "MANUAL_INTERVENTION"
    ]
   },
   "source_venue": {
    "type": "string"
   },
   "destination_venue": {
    "type": "string"
   },
   "source_account_type": {
    "type": "string"
   },
   "destination_account_type": {
    "type": "string"
   },
   "asset": {
    "type": "string"
   },
   "amount": {
    "$ref": "#/components/schemas/Decimal"
   },
   "reason": {
    "type": "string"
   },
   "strategy_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "idempotency_key": {
    "type": "string"
   },
   "provider": {
    "type": [
     "string",
     "null"
    ]
   },
   "provider_transfer_id": {
    "description": "The provider's own id of its record, once it has reported it.",
    "type": [
     "string",
     "null"
    ]
   },
   "error_code": {
    "type": [
     "string",
     "null"
    ]
   },
   "error_message": {
    "type": [
     "string",
     "null"
    ]
   },
   "attention": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/CapitalTransferAttention"
     },
     {
      "type": "null"
     }
    ],
    "description": "What a person should do; null while none is needed."
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "transfer_id",
   "request_state",
   "source_venue",
   "destination_venue",
   "source_account_type",
   "destination_account_type",
   "asset",
   "amount",
   "reason",
   "strategy_id",
   "idempotency_key",
   "provider",
   "provider_transfer_id",
   "error_code",
   "error_message",
   "attention",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "CapitalTransferAttention": {
  "type": "object",
  "properties": {
   "reason": {
    "type": "string",
    "enum": [
     "approval",
     "approval_expires_soon",
     "approval_unsatisfiable",
     "approval_compromised",
     "unknown_outcome",
     "landed_late",
     "manual_gate",
     "failed",
     "lane_stuck",
     "clock_difference",
     "lane_blocked",
     "delivery_late",
     "executor_unavailable",
     "venue_suspended",
     "withdrawal_quota_exhausted",
     "observed_long",
     "run_stuck"
    ]
   },
   "message": {
    "type": "string"
   },
   "last_answer": {
    "type": [
     "string",
     "null"
    ]
   },
   "actions": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "action": {
       "type": "string"
      },
      "consequence": {
       "type": "string"
      }
     },
     "required": [
      "action",
      "consequence"
     ],
     "additionalProperties": false
    }
   }
  },
  "required": [
   "reason",
   "message",
   "last_answer",
   "actions"
  ],
  "additionalProperties": false
 },
 "CapitalTransferList": {
  "type": "object",
  "properties": {
   "capital_transfers": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/CapitalTransferView"
    }
   },
   "next_cursor": {
    "description": "Send it as `cursor` for the next page; null on the last.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "capital_transfers",
   "next_cursor"
  ],
  "additionalProperties": false
 },
 "CapitalTransferEventView": {
  "type": "object",
  "properties": {
   "event_id": {
    "$ref": "#/components/schemas/Id"
   },
   "sequence": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Per transfer, without gaps."
   },
   "event_type": {
    "type": "string",
    "enum": [
     "transfer_created",
     "transfer_submitting",
     "transfer_pending",
     "transfer_completed",
     "transfer_failed",
     "transfer_attention",
     "transfer_resolved"
    ]
   },
   "from_state": {
    "type": [
     "string",
     "null"
    ]
   },
   "to_state": {
    "type": [
     "string",
     "null"
    ]
   },
   "actor": {
    "type": "object",
    "properties": {
     "type": {
      "type": "string",
      "enum": [
       "key",
       "system",
       "executor",
       "operator"
      ]
     },
     "client_id": {
      "type": [
       "string",
       "null"
      ]
     },
     "key_id": {
      "type": [
       "string",
       "null"
      ]
     },
     "label": {
      "type": "string"
     }
    },
    "required": [
     "type"
    ],
    "additionalProperties": false
   },
   "message": {
    "type": "string"
   },
   "data": {
    "$ref": "#/components/schemas/JsonObject"
   },
   "occurred_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "event_id",
   "sequence",
   "event_type",
   "from_state",
   "to_state",
   "actor",
   "message",
   "data",
   "occurred_at"
  ],
  "additionalProperties": false
 },
 "PolicyResponse": {
  "type": "object",
  "properties": {
   "policy_id": {
    "$ref": "#/components/schemas/Id"
   },
   "client_id": {
    "$ref": "#/components/schemas/Id"
   },
   "strategy_id": {
    "type": "string"
   },
   "is_active": {
    "type": "boolean"
   },
   "allowed_templates": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "template_key": {
       "type": "string"
      },
      "template_version": {
       "anyOf": [
        {
         "type": "integer",
         "minimum": -9007199254740991,
         "maximum": 9007199254740991
        },
        {
         "type": "null"
        }
       ]
      }
     },
     "required": [
      "template_key",
      "template_version"
     ],
     "additionalProperties": false
    }
   },
   "allowed_assets": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "max_amount_per_request": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "window_hours": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "max_amount_per_window": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "max_count_per_window": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "created_by": {
    "description": "The client that created it.",
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "policy_id",
   "client_id",
   "strategy_id",
   "is_active",
   "allowed_templates",
   "allowed_assets",
   "max_amount_per_request",
   "window_hours",
   "max_amount_per_window",
   "max_count_per_window",
   "created_by",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "BudgetResponse": {
  "type": "object",
  "properties": {
   "strategy_id": {
    "type": "string"
   },
   "policies": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/PolicyBudget"
    }
   }
  },
  "required": [
   "strategy_id",
   "policies"
  ],
  "additionalProperties": false
 },
 "PolicyBudget": {
  "type": "object",
  "properties": {
   "policy_id": {
    "$ref": "#/components/schemas/Id"
   },
   "window_hours": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "max_amount_per_window": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "max_count_per_window": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "reserved_amount": {
    "type": "string",
    "description": "Approved in the window, neither completed nor released."
   },
   "consumed_amount": {
    "type": "string",
    "description": "Approved in the window and completed."
   },
   "available_amount": {
    "description": "What the window has left; null without an amount cap, below zero when the cap was lowered under what is used.",
    "type": [
     "string",
     "null"
    ]
   },
   "count_in_window": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Approvals in the window that are not released."
   }
  },
  "required": [
   "policy_id",
   "window_hours",
   "max_amount_per_window",
   "max_count_per_window",
   "reserved_amount",
   "consumed_amount",
   "available_amount",
   "count_in_window"
  ],
  "additionalProperties": false
 },
 "CallbackList": {
  "type": "object",
  "properties": {
   "callbacks": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/CallbackView"
    }
   },
   "next_cursor": {
    "description": "Send it as `cursor` for the next page; null on the last.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "callbacks",
   "next_cursor"
  ],
  "additionalProperties": false
 },
 "CallbackView": {
  "type": "object",
  "properties": {
   "event_id": {
    "$ref": "#/components/schemas/Id"
   },
   "movement_id": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Id"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null unless it is of a movement."
   },
   "transfer_id": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Id"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null unless it is of a capital transfer."
   },
   "webhook": {
    "description": "The webhook of the service whose message it is; else null.",
    "type": [
     "string",
     "null"
    ]
   },
   "event_type": {
    "type": "string",
    "enum": [
     "approval_recorded",
     "approval_withdrawn",
     "request_approved",
     "request_rejected",
     "request_expired",
     "request_resumed",
     "request_retried",
     "request_cancelled",
     "request_completed",
     "request_failed",
     "request_attention",
     "frontier_advanced",
     "movement.approval_needed",
     "movement.attention",
     "approval.recorded",
     "capital_transfer.attention",
     "change_request.approval_needed",
     "change_request.break_glass",
     "change_request.ended",
     "template_proposal.decision_needed",
     "callback.dead_letter",
     "cutover.changed",
     "webhook.test"
    ]
   },
   "sequence": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "The event's place in its timeline; 0 for a webhook, which has none."
   },
   "url": {
    "type": "string",
    "description": "Where it goes; a query is not shown, since it may hold a token."
   },
   "payload": {
    "description": "What is sent, the same at every attempt.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "nonce": {
    "type": "string",
    "description": "`X-SVC-Nonce` and `webhook-id`, the same at every attempt."
   },
   "status": {
    "type": "string",
    "enum": [
     "pending",
     "delivered",
     "dead_letter"
    ]
   },
   "attempts": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Requests made since it was written or sent again."
   },
   "next_attempt_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null unless it is pending."
   },
   "last_error": {
    "example": "http_503",
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "event_id",
   "movement_id",
   "transfer_id",
   "webhook",
   "event_type",
   "sequence",
   "url",
   "payload",
   "nonce",
   "status",
   "attempts",
   "next_attempt_at",
   "last_error",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "AuditEventList": {
  "type": "object",
  "properties": {
   "events": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AuditEvent"
    }
   },
   "next_cursor": {
    "description": "Send it as `cursor` for the next page; null on the last.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "events",
   "next_cursor"
  ],
  "additionalProperties": false
 },
 "AuditEvent": {
  "type": "object",
  "properties": {
   "event_id": {
    "$ref": "#/components/schemas/Id"
   },
   "occurred_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "actor_client_id": {
    "description": "An API client, `dashboard:<operator>`, or `fundadmin:<person>`. Null for the service itself, for `fundadmin` without `--as`, and with authentication switched off.",
    "type": [
     "string",
     "null"
    ]
   },
   "actor_key_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "actor_role": {
    "type": [
     "string",
     "null"
    ]
   },
   "namespace": {
    "type": [
     "string",
     "null"
    ]
   },
   "action": {
    "type": "string",
    "enum": [
     "plan_template.create",
     "plan_template.update_admin_fields",
     "plan_template.retire",
     "movement.create",
     "movement.approve",
     "movement.record_approval",
     "movement.withdraw_approval",
     "movement.reject",
     "movement.expire",
     "movement.resume",
     "movement.retry",
     "movement.cancel",
     "movement.resolve",
     "movement.reassign",
     "movement.acknowledge",
     "movement.cancel_transaction",
     "movement.reset_allowances",
     "movement.complete",
     "movement.fail",
     "cutover.set_mode",
     "executor.update_status",
     "signer.update_status",
     "signer.set_expected_identity",
     "signer.rotate",
     "signer.inventory",
     "signer.allowances",
     "signer.retire",
     "nonce_lane.raise_caps",
     "registry.verify_drift",
     "bridge_chain.create",
     "bridge_chain.replace",
     "bridge_chain.delete",
     "bridge_path.create",
     "bridge_path.replace",
     "bridge_path.delete",
     "bridge_path.drill_pass",
     "bridge_registry.refresh",
     "perp_master.create",
     "perp_binding.create",
     "perp_binding.pause",
     "perp_agent_wallet.create",
     "perp_agent_wallet.activate",
     "perp_agent_wallet.refuse",
     "perp_agent_wallet.expire",
     "database.after_restore",
     "callback.redeliver",
     "webhook.set",
     "webhook.remove",
     "webhook.test",
     "api_key.issue",
     "api_key.revoke",
     "api_key.compromise",
     "api_key.authenticate",
     "route.call",
     "agent_authority.create",
     "agent_authority.update",
     "dashboard_key.enrol",
     "dashboard_key.fill",
     "dashboard_key.confirm",
     "dashboard_key.end",
     "dashboard_key.compromise",
     "dashboard_session.create",
     "dashboard_session.end",
     "template_proposal.create",
     "template_proposal.promote",
     "template_proposal.reject",
     "template_proposal.expire",
     "auto_approve_policy.create",
     "auto_approve_policy.update",
     "allowed_address.create",
     "allowed_address.reactivate",
     "allowed_address.revoke",
     "allowed_address.set_chain",
     "person.set",
     "person.remove",
     "approver_group.set",
     "approver_group.remove",
     "approval_rule.set",
     "approval_rule.remove",
     "approval_decision.record",
     "passkey.offer",
     "passkey.confirm",
     "passkey.revoke",
     "passkey.compromise",
     "change_request.create",
     "change_request.approve",
     "change_request.reject",
     "change_request.withdraw",
     "change_request.withdraw_approval",
     "change_request.fail",
     "capital_transfer.create",
     "capital_transfer.resolve",
     "capital_transfer.complete",
     "capital_transfer.fail"
    ]
   },
   "entity_type": {
    "type": "string"
   },
   "entity_key": {
    "type": "string"
   },
   "outcome": {
    "type": "string",
    "enum": [
     "success",
     "denied",
     "failed"
    ]
   },
   "request_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "reason": {
    "description": "What the caller gave as the reason, or why it was denied.",
    "type": [
     "string",
     "null"
    ]
   },
   "details": {
    "$ref": "#/components/schemas/JsonObject"
   }
  },
  "required": [
   "event_id",
   "occurred_at",
   "actor_client_id",
   "actor_key_id",
   "actor_role",
   "namespace",
   "action",
   "entity_type",
   "entity_key",
   "outcome",
   "request_id",
   "reason",
   "details"
  ],
  "additionalProperties": false
 },
 "AuditSeal": {
  "type": "object",
  "properties": {
   "sealed": {
    "type": "integer",
    "minimum": 0,
    "maximum": 9007199254740991,
    "description": "Records with a seal."
   },
   "chain_hash": {
    "description": "SHA-256 of the newest seal, in hexadecimal; it covers all before it.",
    "type": [
     "string",
     "null"
    ]
   },
   "sealed_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "overdue": {
    "type": "boolean",
    "description": "A record of more than a minute ago, of the newest 100, has no seal yet."
   }
  },
  "required": [
   "sealed",
   "chain_hash",
   "sealed_at",
   "overdue"
  ],
  "additionalProperties": false
 },
 "AgentAuthority": {
  "type": "object",
  "properties": {
   "authority_key": {
    "type": "string"
   },
   "namespace": {
    "type": "string"
   },
   "key_id": {
    "description": "The active key that is bound to it.",
    "type": [
     "string",
     "null"
    ]
   },
   "client_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "max_notional": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ],
    "description": "Of one proposal, and of one movement in each asset; null covers no amount."
   },
   "allowed_assets": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "allowed_chains": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "max_ttl_seconds": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Null: as long as a proposal may ask for."
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "authority_key",
   "namespace",
   "key_id",
   "client_id",
   "max_notional",
   "allowed_assets",
   "allowed_chains",
   "max_ttl_seconds",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false,
  "description": "What an agent may propose and create. An absent limit is null; an empty list allows nothing."
 },
 "TemplateProposal": {
  "type": "object",
  "properties": {
   "proposal_id": {
    "$ref": "#/components/schemas/Id"
   },
   "authority_key": {
    "type": "string"
   },
   "status": {
    "type": "string",
    "enum": [
     "submitted",
     "auto_promoted",
     "rejected",
     "expired"
    ],
    "description": "`auto_promoted` in either way; `promotion_mode` says which. `rejected`: no plan can be made of it."
   },
   "promotion_mode": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "auto",
       "admin"
      ]
     },
     {
      "type": "null"
     }
    ]
   },
   "template_key": {
    "type": [
     "string",
     "null"
    ]
   },
   "template_version": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "reasons": {
    "description": "Why the service did not promote it by itself; of one that an administrator promoted, what was waived.",
    "type": "array",
    "items": {
     "type": "string",
     "enum": [
      "asset_not_allowed",
      "chain_not_allowed",
      "notional_exceeded",
      "ttl_exceeded",
      "address_not_allowlisted",
      "address_in_cooling_period",
      "signer_profile_unresolved",
      "bridge_path_not_ready",
      "no_blueprint"
     ]
    }
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "proposal_id",
   "authority_key",
   "status",
   "promotion_mode",
   "template_key",
   "template_version",
   "reasons",
   "expires_at",
   "created_at"
  ],
  "additionalProperties": false
 },
 "BridgeAttempt": {
  "type": "object",
  "properties": {
   "proposal_id": {
    "$ref": "#/components/schemas/Id"
   },
   "status": {
    "type": "string",
    "enum": [
     "submitted",
     "auto_promoted",
     "rejected",
     "expired"
    ],
    "description": "`auto_promoted` in either way; `promotion_mode` says which. `rejected`: no plan can be made of it."
   },
   "movement_id": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Id"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null while the proposal is not promoted."
   },
   "template_key": {
    "type": [
     "string",
     "null"
    ]
   },
   "template_version": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "proposal_id",
   "status",
   "movement_id",
   "template_key",
   "template_version"
  ],
  "additionalProperties": false
 },
 "TemplateProposalListResponse": {
  "type": "object",
  "properties": {
   "template_proposals": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/TemplateProposalDetail"
    }
   },
   "next_cursor": {
    "description": "Send it as `cursor` for the next page; null on the last.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "template_proposals",
   "next_cursor"
  ],
  "additionalProperties": false
 },
 "TemplateProposalDetail": {
  "type": "object",
  "properties": {
   "proposal_id": {
    "$ref": "#/components/schemas/Id"
   },
   "authority_key": {
    "type": "string"
   },
   "status": {
    "type": "string",
    "enum": [
     "submitted",
     "auto_promoted",
     "rejected",
     "expired"
    ],
    "description": "`auto_promoted` in either way; `promotion_mode` says which. `rejected`: no plan can be made of it."
   },
   "promotion_mode": {
    "anyOf": [
     {
      "type": "string",
      "enum": [
       "auto",
       "admin"
      ]
     },
     {
      "type": "null"
     }
    ]
   },
   "template_key": {
    "type": [
     "string",
     "null"
    ]
   },
   "template_version": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ]
   },
   "reasons": {
    "description": "Why the service did not promote it by itself; of one that an administrator promoted, what was waived.",
    "type": "array",
    "items": {
     "type": "string",
     "enum": [
      "asset_not_allowed",
      "chain_not_allowed",
      "notional_exceeded",
      "ttl_exceeded",
      "address_not_allowlisted",
      "address_in_cooling_period",
      "signer_profile_unresolved",
      "bridge_path_not_ready",
      "no_blueprint"
     ]
    }
   },
   "expires_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "proposal": {
    "description": "What was proposed.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "problem": {
    "description": "Why no plan can be made of it, in a sentence.",
    "type": [
     "string",
     "null"
    ]
   },
   "movement_id": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Id"
     },
     {
      "type": "null"
     }
    ],
    "description": "Of a bridge attempt: the movement that it made."
   }
  },
  "required": [
   "proposal_id",
   "authority_key",
   "status",
   "promotion_mode",
   "template_key",
   "template_version",
   "reasons",
   "expires_at",
   "created_at",
   "proposal",
   "problem",
   "movement_id"
  ],
  "additionalProperties": false
 },
 "SearchResult": {
  "type": "object",
  "properties": {
   "hits": {
    "description": "At most 20: by `matched` in its order, then newest first.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/SearchHit"
    }
   }
  },
  "required": [
   "hits"
  ],
  "additionalProperties": false
 },
 "SearchHit": {
  "type": "object",
  "properties": {
   "kind": {
    "type": "string",
    "enum": [
     "movement",
     "capital_transfer",
     "proposal",
     "change_request",
     "allowed_address"
    ]
   },
   "id": {
    "$ref": "#/components/schemas/Id"
   },
   "title": {
    "type": "string",
    "description": "For people; it may change."
   },
   "matched": {
    "type": "string",
    "enum": [
     "id",
     "transaction_hash",
     "idempotency_key",
     "external_reference",
     "address"
    ],
    "description": "By what it was found; the first where there are several."
   }
  },
  "required": [
   "kind",
   "id",
   "title",
   "matched"
  ],
  "additionalProperties": false
 },
 "Whoami": {
  "type": "object",
  "properties": {
   "client_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "key_id": {
    "type": [
     "string",
     "null"
    ]
   },
   "role": {
    "type": "string",
    "enum": [
     "admin",
     "operator",
     "agent",
     "allowlist"
    ]
   },
   "namespace": {
    "type": "string"
   },
   "dashboard": {
    "type": "object",
    "properties": {
     "operator": {
      "type": "string"
     },
     "allowlist": {
      "type": "boolean"
     }
    },
    "required": [
     "operator",
     "allowlist"
    ],
    "additionalProperties": false
   }
  },
  "required": [
   "client_id",
   "key_id",
   "role"
  ],
  "additionalProperties": false
 },
 "MasterAccount": {
  "type": "object",
  "properties": {
   "master_address": {
    "type": "string",
    "description": "With its checksum."
   },
   "signer_key": {
    "type": "string"
   },
   "network": {
    "type": "string",
    "enum": [
     "mainnet",
     "testnet"
    ]
   },
   "label": {
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "master_address",
   "signer_key",
   "network",
   "label",
   "created_at"
  ],
  "additionalProperties": false
 },
 "StrategyBinding": {
  "type": "object",
  "properties": {
   "strategy_id": {
    "type": "string"
   },
   "sub_account_address": {
    "anyOf": [
     {
      "type": "string",
      "description": "With its checksum."
     },
     {
      "type": "null"
     }
    ]
   },
   "max_agent_balance": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Decimal"
     },
     {
      "type": "null"
     }
    ]
   },
   "paused": {
    "type": "boolean",
    "description": "Nothing of this strategy begins at the venue."
   },
   "pause_reason": {
    "description": "Why `paused` is what it is; null before anybody said so.",
    "type": [
     "string",
     "null"
    ]
   },
   "paused_changed_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "strategy_id",
   "sub_account_address",
   "max_agent_balance",
   "paused",
   "pause_reason",
   "paused_changed_at",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "AgentWallet": {
  "type": "object",
  "properties": {
   "wallet_id": {
    "$ref": "#/components/schemas/Id"
   },
   "strategy_id": {
    "type": "string"
   },
   "agent_name": {
    "type": "string"
   },
   "signer_key": {
    "type": "string"
   },
   "address": {
    "type": "string",
    "description": "With its checksum."
   },
   "valid_until": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "state": {
    "type": "string",
    "enum": [
     "pending",
     "active",
     "expired",
     "replaced",
     "refused"
    ]
   },
   "last_error": {
    "description": "What was wrong at the last look; null when nothing was.",
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "approved_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ],
    "description": "When the venue was first seen to list it."
   }
  },
  "required": [
   "wallet_id",
   "strategy_id",
   "agent_name",
   "signer_key",
   "address",
   "valid_until",
   "state",
   "last_error",
   "created_at",
   "updated_at",
   "approved_at"
  ],
  "additionalProperties": false
 },
 "EmergencyState": {
  "type": "object",
  "properties": {
   "strategy_id": {
    "type": "string"
   },
   "paused": {
    "type": "boolean"
   },
   "agent_wallets": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AgentWallet"
    }
   },
   "open_movements": {
    "description": "Those that have not ended, newest first, at most 200.",
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "movement_id": {
       "$ref": "#/components/schemas/Id"
      },
      "request_state": {
       "type": "string",
       "enum": [
        "PENDING_APPROVAL",
        "APPROVED",
        "EXECUTING",
        "COMPLETED",
        "FAILED",
        "WAITING_MANUAL_ACTION",
        "MANUAL_INTERVENTION",
        "REJECTED",
        "EXPIRED",
        "CANCELLED"
       ]
      },
      "template_key": {
       "type": "string"
      },
      "asset": {
       "type": "string"
      },
      "amount": {
       "$ref": "#/components/schemas/Decimal"
      },
      "created_at": {
       "$ref": "#/components/schemas/Timestamp"
      }
     },
     "required": [
      "movement_id",
      "request_state",
      "template_key",
      "asset",
      "amount",
      "created_at"
     ],
     "additionalProperties": false
    }
   },
   "open_movement_count": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "How many there are in all."
   },
   "venue": {
    "type": "object",
    "properties": {
     "withdrawable": {
      "description": "A decimal; it may be less than zero.",
      "type": [
       "string",
       "null"
      ]
     },
     "account_value": {
      "description": "A decimal; it may be less than zero.",
      "type": [
       "string",
       "null"
      ]
     },
     "open_positions": {
      "anyOf": [
       {
        "type": "integer",
        "minimum": -9007199254740991,
        "maximum": 9007199254740991
       },
       {
        "type": "null"
       }
      ]
     }
    },
    "required": [
     "withdrawable",
     "account_value",
     "open_positions"
    ],
    "additionalProperties": false,
    "description": "Of the strategy's sub-account, or of the master where it has none. Null when nothing was ever seen of it."
   },
   "checked_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ],
    "description": "When `venue` was read from the venue."
   },
   "stale": {
    "type": "boolean",
    "description": "The venue did not say it now: it is from `checked_at`, or nothing."
   }
  },
  "required": [
   "strategy_id",
   "paused",
   "agent_wallets",
   "open_movements",
   "open_movement_count",
   "venue",
   "checked_at",
   "stale"
  ],
  "additionalProperties": false
 },
 "RotateSignerResponse": {
  "type": "object",
  "properties": {
   "outcome": {
    "type": "string",
    "enum": [
     "drilled",
     "changed"
    ]
   },
   "signer_key": {
    "type": "string"
   },
   "replace_with": {
    "type": "string"
   },
   "impact": {
    "$ref": "#/components/schemas/RotationImpact"
   },
   "audit_event_id": {
    "$ref": "#/components/schemas/Id"
   },
   "signer_rotation_event_id": {
    "$ref": "#/components/schemas/Id"
   }
  },
  "required": [
   "outcome",
   "signer_key",
   "replace_with",
   "impact",
   "audit_event_id",
   "signer_rotation_event_id"
  ],
  "additionalProperties": false
 },
 "RotationImpact": {
  "type": "object",
  "properties": {
   "remapped": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Nodes that the replacement signs."
   },
   "kept": {
    "description": "Nodes that stay with the old signer, and what ties them to it.",
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "movement_id": {
       "$ref": "#/components/schemas/Id"
      },
      "node_key": {
       "type": "string"
      },
      "reason": {
       "type": "string",
       "enum": [
        "open_nonce",
        "in_flight",
        "passed_fence",
        "perp_master",
        "allowance",
        "destination_caller",
        "old_address",
        "passes_on",
        "no_room"
       ]
      }
     },
     "required": [
      "movement_id",
      "node_key",
      "reason"
     ],
     "additionalProperties": false
    }
   },
   "open_nonces": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Nonces of kept nodes that are not final."
   },
   "pending_approval": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991,
    "description": "Movements among them that wait for their approval."
   }
  },
  "required": [
   "remapped",
   "kept",
   "open_nonces",
   "pending_approval"
  ],
  "additionalProperties": false
 },
 "SignerInventory": {
  "type": "object",
  "properties": {
   "signer_key": {
    "type": "string"
   },
   "address": {
    "type": "string"
   },
   "checked_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "balances": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/SignerHolding"
    }
   },
   "rotation_state": {
    "type": "string",
    "enum": [
     "active",
     "disabled",
     "deprecated",
     "retired"
    ]
   },
   "audit_event_id": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Id"
     },
     {
      "type": "null"
     }
    ]
   },
   "evidence_id": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Id"
     },
     {
      "type": "null"
     }
    ]
   }
  },
  "required": [
   "signer_key",
   "address",
   "checked_at",
   "balances",
   "rotation_state",
   "audit_event_id",
   "evidence_id"
  ],
  "additionalProperties": false
 },
 "SignerHolding": {
  "type": "object",
  "properties": {
   "chain": {
    "type": "string"
   },
   "asset": {
    "type": "string"
   },
   "token_address": {
    "description": "Null: the chain's own coin.",
    "type": [
     "string",
     "null"
    ]
   },
   "amount": {
    "type": [
     "string",
     "null"
    ]
   },
   "problem": {
    "description": "Why the amount is unknown.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "chain",
   "asset",
   "token_address",
   "amount",
   "problem"
  ],
  "additionalProperties": false
 },
 "SignerAllowances": {
  "type": "object",
  "properties": {
   "signer_key": {
    "type": "string"
   },
   "address": {
    "type": "string"
   },
   "checked_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "allowances": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "chain": {
       "type": "string"
      },
      "token_address": {
       "type": "string"
      },
      "spender": {
       "type": "string"
      },
      "amount": {
       "type": "string"
      }
     },
     "required": [
      "chain",
      "token_address",
      "spender",
      "amount"
     ],
     "additionalProperties": false
    }
   },
   "unsupported_spender_not_checked": {
    "type": "boolean",
    "description": "The scan is partial: an endpoint searches no logs, or a token gave no answer."
   },
   "audit_event_id": {
    "$ref": "#/components/schemas/Id"
   },
   "evidence_id": {
    "$ref": "#/components/schemas/Id"
   }
  },
  "required": [
   "signer_key",
   "address",
   "checked_at",
   "allowances",
   "unsupported_spender_not_checked",
   "audit_event_id",
   "evidence_id"
  ],
  "additionalProperties": false
 },
 "RetireSignerResponse": {
  "type": "object",
  "properties": {
   "outcome": {
    "type": "string",
    "const": "retired"
   },
   "signer_key": {
    "type": "string"
   },
   "retired_with": {
    "description": "What was seen of the account.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "audit_event_id": {
    "$ref": "#/components/schemas/Id"
   },
   "evidence_id": {
    "$ref": "#/components/schemas/Id"
   }
  },
  "required": [
   "outcome",
   "signer_key",
   "retired_with",
   "audit_event_id",
   "evidence_id"
  ],
  "additionalProperties": false
 },
 "SignerRotationHistory": {
  "type": "object",
  "properties": {
   "signer_key": {
    "type": "string"
   },
   "status": {
    "type": "string",
    "enum": [
     "active",
     "disabled",
     "deprecated",
     "retired"
    ]
   },
   "replaced_by": {
    "type": [
     "string",
     "null"
    ]
   },
   "events": {
    "type": "array",
    "items": {
     "type": "object",
     "properties": {
      "event_id": {
       "$ref": "#/components/schemas/Id"
      },
      "event_type": {
       "type": "string",
       "enum": [
        "rotation_drilled",
        "rotated",
        "inventory",
        "allowances",
        "retirement_denied",
        "retired"
       ]
      },
      "signer_key": {
       "type": "string"
      },
      "replace_with": {
       "type": [
        "string",
        "null"
       ]
      },
      "reason": {
       "type": [
        "string",
        "null"
       ]
      },
      "done_by": {
       "$ref": "#/components/schemas/JsonObject"
      },
      "data": {
       "$ref": "#/components/schemas/JsonObject"
      },
      "audit_event_id": {
       "anyOf": [
        {
         "$ref": "#/components/schemas/Id"
        },
        {
         "type": "null"
        }
       ]
      },
      "occurred_at": {
       "$ref": "#/components/schemas/Timestamp"
      }
     },
     "required": [
      "event_id",
      "event_type",
      "signer_key",
      "replace_with",
      "reason",
      "done_by",
      "data",
      "audit_event_id",
      "occurred_at"
     ],
     "additionalProperties": false
    }
   }
  },
  "required": [
   "signer_key",
   "status",
   "replaced_by",
   "events"
  ],
  "additionalProperties": false
 },
 "PathBaseline": {
  "type": "object",
  "properties": {
   "src_chain": {
    "type": "string"
   },
   "dst_chain": {
    "type": "string"
   },
   "asset": {
    "type": "string"
   },
   "expected_latency_seconds": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "detection_latency_budget_seconds": {
    "type": "integer",
    "minimum": -9007199254740991,
    "maximum": 9007199254740991
   },
   "fee_native_budget": {
    "$ref": "#/components/schemas/Decimal"
   },
   "enabled": {
    "type": "boolean"
   },
   "disabled_reason": {
    "type": [
     "string",
     "null"
    ]
   },
   "last_drill_pass_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ],
    "description": "Null: no drill has passed since an identity of its chains changed."
   },
   "last_drill_evidence_path": {
    "type": [
     "string",
     "null"
    ]
   },
   "last_drill_contracts": {
    "description": "What the venues file named for both ends when the drill passed. While it names other contracts the path is not ready. Null: it named none for one of them.",
    "type": [
     "string",
     "null"
    ]
   },
   "baseline_source": {
    "type": [
     "string",
     "null"
    ]
   },
   "operator_label": {
    "type": [
     "string",
     "null"
    ]
   },
   "created_at": {
    "$ref": "#/components/schemas/Timestamp"
   },
   "updated_at": {
    "$ref": "#/components/schemas/Timestamp"
   }
  },
  "required": [
   "src_chain",
   "dst_chain",
   "asset",
   "expected_latency_seconds",
   "detection_latency_budget_seconds",
   "fee_native_budget",
   "enabled",
   "disabled_reason",
   "last_drill_pass_at",
   "last_drill_evidence_path",
   "last_drill_contracts",
   "baseline_source",
   "operator_label",
   "created_at",
   "updated_at"
  ],
  "additionalProperties": false
 },
 "MovementPreview": {
  "type": "object",
  "properties": {
   "would_create": {
    "type": "boolean",
    "description": "Whether the same request without the header would make a movement now."
   },
   "compiled_plan_hash": {
    "description": "The hash the movement would have; null when no plan can be compiled.",
    "type": [
     "string",
     "null"
    ]
   },
   "current_frontier": {
    "description": "The nodes that an approval would make ready.",
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "bindings": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/BindingPreview"
    }
   },
   "allowlist": {
    "description": "Whom the nodes would pay, as far as the plan tells. On-chain ones that are not allowed block the create (`address_not_allowlisted`); those of withdrawals do not. All are checked again before anything is sent.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/AddressPreview"
    }
   },
   "external_reference": {
    "type": [
     "string",
     "null"
    ]
   },
   "metadata": {
    "description": "Pairs of texts.",
    "$ref": "#/components/schemas/JsonObject"
   },
   "sends": {
    "description": "Each node that moves funds, with its terms and whom it pays.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ReviewedSend"
    }
   },
   "limits": {
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/LimitPreview"
    }
   },
   "balances": {
    "description": "Each pool of funds that the plan draws from.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/ReviewedBalance"
    }
   },
   "outflow": {
    "anyOf": [
     {
      "description": "What the plan can move at most in any one run, by asset; every limit counts it. Null where an output decides it and nothing bounds it.",
      "type": "array",
      "items": {
       "$ref": "#/components/schemas/OutflowEntry"
      }
     },
     {
      "type": "null"
     }
    ],
    "description": "What the plan can move at most, by asset; null where no plan can be made of the request."
   },
   "auto_approve": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/JsonObject"
     },
     {
      "type": "null"
     }
    ],
    "description": "`auto_approve_result` as the create would give it if nothing changed in between; null where automatic approval is off or without strategy_id."
   },
   "blocking_reasons": {
    "description": "All of them, the one that the create would answer with first. `idempotent_replay` means that the key was used for this very request: the create would answer 200 with that movement. Behind them stand amounts beyond their own limit (`MAX_AMOUNT_EXCEEDED`), which can be created and fail before anything is sent: `would_create` is true with those alone.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/BlockingReason"
    }
   },
   "would_fail": {
    "description": "What would be refused after the create, as things stand now; it may change.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/WouldFail"
    }
   },
   "would_wait": {
    "description": "Withdrawals that would wait before anything is sent, as their venue showed itself with its last balances. It blocks nothing, and may have changed when they are reached. A venue that shows nothing, or not lately, has none here.",
    "type": "array",
    "items": {
     "$ref": "#/components/schemas/WouldWait"
    }
   }
  },
  "required": [
   "would_create",
   "compiled_plan_hash",
   "current_frontier",
   "bindings",
   "allowlist",
   "external_reference",
   "metadata",
   "sends",
   "limits",
   "balances",
   "outflow",
   "auto_approve",
   "blocking_reasons",
   "would_fail",
   "would_wait"
  ],
  "additionalProperties": false
 },
 "BindingPreview": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string"
   },
   "executor_key": {
    "description": "Null when none or several are selected.",
    "type": [
     "string",
     "null"
    ]
   },
   "signer_key": {
    "description": "Null for nodes that do not sign, too.",
    "type": [
     "string",
     "null"
    ]
   },
   "available": {
    "type": "boolean"
   },
   "reason": {
    "description": "Why not, as codes with a comma between them: `executor_missing`, `executor_ambiguous`, `executor_disabled`, and the same for `signer_`. What is missing or ambiguous blocks the create; what is switched off does not, but an approve is refused (`binding_unavailable`) while it is so for a node of the frontier, and a later node fails when it is reached.",
    "example": "executor_disabled",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "node_key",
   "executor_key",
   "signer_key",
   "available",
   "reason"
  ],
  "additionalProperties": false
 },
 "AddressPreview": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string"
   },
   "address": {
    "type": "string",
    "description": "As it would be sent to; an address without a normal form is shown as written."
   },
   "chain_id": {
    "anyOf": [
     {
      "type": "integer",
      "minimum": -9007199254740991,
      "maximum": 9007199254740991
     },
     {
      "type": "null"
     }
    ],
    "description": "Null for exchanges, and where the plan names no chain."
   },
   "allowed": {
    "type": "boolean",
    "description": "Whether an active row of the allowlist is about it."
   },
   "usable_after": {
    "description": "When its cooling period ends, past or to come; null without one. A node that is reached before fails.",
    "type": [
     "string",
     "null"
    ]
   }
  },
  "required": [
   "node_key",
   "address",
   "chain_id",
   "allowed",
   "usable_after"
  ],
  "additionalProperties": false
 },
 "BlockingReason": {
  "type": "object",
  "properties": {
   "error": {
    "type": "string"
   },
   "message": {
    "type": "string"
   }
  },
  "required": [
   "error",
   "message"
  ],
  "additionalProperties": {},
  "description": "Code, sentence and context as the refusal of the create would carry them."
 },
 "WouldWait": {
  "type": "object",
  "properties": {
   "node_key": {
    "type": "string"
   },
   "error_code": {
    "type": "string",
    "enum": [
     "VENUE_SUSPENDED",
     "WITHDRAWAL_QUOTA_EXHAUSTED"
    ]
   },
   "message": {
    "type": "string",
    "example": "the exchange does not pay out USDC on ERC20 at present"
   },
   "opens_at": {
    "anyOf": [
     {
      "$ref": "#/components/schemas/Timestamp"
     },
     {
      "type": "null"
     }
    ],
    "description": "When the venue expects to pay out again; null: not known."
   }
  },
  "required": [
   "node_key",
   "error_code",
   "message",
   "opens_at"
  ],
  "additionalProperties": false
 }
};
