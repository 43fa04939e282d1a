"""The Python side of `npm run fuzz`: validates the document, makes requests from it, checks every answer.

    python run.py <plan.json>

The plan is written by main.ts. The last line on standard output is a summary in JSON.
"""

import json
import sys
import time
import urllib.request
from urllib.parse import urlsplit

import hooks
import openapi_spec_validator
from schemathesis.cli import schemathesis as command_line
from signing import sign_everything

# Left out: `ignored_auth` and `missing_required_header` change headers that are written underneath the fuzzer, at
# the connection; test/http/signatures.test.ts does that by hand. `use_after_free` and
# `ensure_resource_availability` need deletes, and here nothing can be deleted.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "unsupported_method",
    "allow_header_conformance",
]
MOST_ROUNDS = 200


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    begun = time.monotonic()
    with urllib.request.urlopen(plan["document_url"], timeout=30) as answer:
        document = json.load(answer)
    openapi_spec_validator.OpenAPIV31SpecValidator(document).validate()
    say(f"The document is valid OpenAPI {document['openapi']}")
    api = urlsplit(plan["api_url"])
    traffic = sign_everything(api.hostname, api.port, plan["keys"])
    hooks.use(plan["known"])
    failed = 0
    rounds = 0
    while traffic.signed < plan["cases"] and rounds < MOST_ROUNDS and failed == 0:
        failed = one_round(plan, plan["seed"] + rounds)
        rounds += 1
        say(f"Round {rounds}: {traffic.signed} signed requests after {time.monotonic() - begun:.0f} s")
    summary = {
        "cases": traffic.sent,
        "signed": traffic.signed,
        "by_status": {str(status): count for status, count in sorted(traffic.by_status.items())},
        "by_role": dict(sorted(traffic.by_role.items())),
        "operations": len(hooks.reached),
        "never_succeeded": sorted(hooks.reached - hooks.succeeded),
        "left_out": dict(hooks.left_out.most_common()),
        "failures": hooks.failures,
        "seed": plan["seed"],
        "rounds": rounds,
        "seconds": round(time.monotonic() - begun),
    }
    sys.stderr.flush()
    print(json.dumps(summary), flush=True)
    enough = traffic.signed >= plan["cases"]
    server_errors = sum(count for status, count in traffic.by_status.items() if status >= 500)
    sys.exit(0 if failed == 0 and enough and server_errors == 0 and hooks.failures == 0 else 1)


def one_round(plan, seed):
    """Every operation with new inputs; answers the exit status."""
    arguments = [
        "run",
        plan["document_url"],
        f"--url={plan['api_url']}",
        f"--checks={','.join(CHECKS)}",
        f"--max-examples={plan['examples']}",
        f"--seed={seed}",
        # Operators sign these, and no key of the API.
        "--exclude-path-regex=^/dashboard/",
        "--phases=examples,coverage,fuzzing",
        "--workers=1",
        "--generation-with-security-parameters=false",
        "--generation-database=none",
        "--suppress-health-check=all",
        "--request-timeout=30",
        "--warnings=off",
        "--continue-on-failure",
        "--no-color",
    ]
    try:
        return command_line.main(arguments, standalone_mode=False) or 0
    except SystemExit as end:
        return int(end.code or 0)


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
