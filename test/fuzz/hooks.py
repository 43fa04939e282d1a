"""What the fuzzer is told of this service: who sends a request, ids that exist, and rules that no schema can say."""

import hashlib
import json
import re
from collections import Counter

import schemathesis
from signing import ROLE_HEADER, role_of

reached = set()
succeeded = set()
failures = 0
left_out = Counter()
_known = {}

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


def use(known):
    """Takes the values that exist, by the parameter or field that takes them."""
    _known.update(known)


def _choice(name, value, content):
    """In three of four cases a value that exists in place of a well-formed one; else the value as it is."""
    values = _known.get(name)
    if not values or not isinstance(value, str) or not value or len(value) > 128:
        return value
    if name.endswith("_id") and not _UUID.match(value):
        return value
    number = int.from_bytes(hashlib.sha256(f"{name} {content}".encode("utf-8", "surrogatepass")).digest()[:4], "big")
    return value if number % 4 == 0 else values[number // 4 % len(values)]


def _path_parameters(case, content):
    """OpenAPI has no parameter that takes the rest of a path, so a template's key has the name of its neighbour there."""
    if case.operation.method == "patch" and "/plan-templates/" in case.operation.path:
        # Its slashes stand as they are, as its description says; the fuzzer encodes whatever is in a parameter.
        return {
            name: _choice("template_key", value, content).replace("%2F", "/") if isinstance(value, str) else value
            for name, value in case.path_parameters.items()
        }
    return {name: _choice(name, value, content) for name, value in case.path_parameters.items()}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts in ids that exist and decides who sends it."""
    content = repr((case.method, case.path, case.path_parameters, case.query, case.body))
    reached.add(case.operation.label)
    if isinstance(case.path_parameters, dict):
        case.path_parameters = _path_parameters(case, content)
    body = case.body
    if isinstance(body, dict):
        changed = {name: _choice(name, value, content) for name, value in body.items()}
        if changed.get("template_key") != body.get("template_key") and isinstance(body.get("template_version"), int):
            changed["template_version"] = min(max(body["template_version"], 0), 1)
        # A new template must have a key of its own to be one.
        case.body = body if case.operation.path.endswith("/plan-templates") else changed
    case.headers = {**(case.headers or {}), ROLE_HEADER: role_of(content)}


# Rules that JSON Schema has no words for; the descriptions of the document tell each. By the code of the issue the
# last names of the places where it may stand, or None for any place.
UNSAYABLE = {
    # Texts of any place: no NUL, no half of a surrogate pair, no name that JavaScript keeps for itself; of what people
    # tell apart by looking nothing that is not seen.
    "invalid_string": None,
    # No number that a double rounds, wherever a schema allows any object.
    "invalid_number": None,
    "invalid_encoding": None,
    "invalid_key": None,
    # Values are not nested deeper than 32 levels, wherever a schema allows any object.
    "too_deep": None,
    "invalid_value": {
        # Only what the service gave out, and only an address it would call.
        "cursor",
        "callback_url",
        # A limit of a node may tighten the plan's and no more; a last interval is not shorter than the first.
        "max_amount",
        "min_amount",
        "max_interval_seconds",
        # Where the header gives one too, it is the same.
        "idempotency_key",
        "dry_run",
        # No segment `.` or `..`.
        "template_key",
        # Only a node that is resolved as completed has one, or the transactions that it is read from.
        "output",
        "mint_tx_hashes",
        # One cap of a lane at least.
        "max_gas_cost_wei",
        # Only a chain that the venues file binds.
        "chains",
        # No checksum is wrong, no address zero; a time lies ahead, and not too far.
        "master_address",
        "sub_account_address",
        "valid_until",
        # A PUT names in its body what its path names, and a path of a bridge has two different ends.
        "chain",
        "src_chain",
        "dst_chain",
        "asset",
    },
}


@schemathesis.hook
def after_call(context, case, response):
    """Notes which operations did what they are for, at least once."""
    if response.status_code < 300:
        succeeded.add(case.operation.label)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Leaves out what no OpenAPI document could have said better, and counts the rest."""
    global failures
    reason = (
        _rule_in_words(failure, response)
        or _key_in_path(failure, case, response)
        or _nothing_broken(failure)
        or _too_large(failure, response)
    )
    if reason is None:
        failures += 1
    else:
        left_out[reason] += 1
    return reason is None


def _rule_in_words(failure, response):
    """Why a request that fits its schema was refused, when that is a rule which is described in words."""
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 422:
        return None
    detail = json.loads(response.content)["detail"]
    # Refusals with a code of their own are listed and described at the operation.
    if detail["error"] != "invalid_request":
        return detail["error"]
    rules = [_unsayable(issue) for issue in detail["issues"]]
    return None if None in rules else " and ".join(sorted(set(rules)))


def _unsayable(issue):
    """The name of the rule, or None when the schema could have told it."""
    places = UNSAYABLE.get(issue["code"], ())
    if places is None:
        return issue["code"]
    # An entry of a list is named by the list.
    name = re.split(r"[.\[]", re.sub(r"(\[\d+\])+$", "", issue["path"]))[-1]
    return name if name in places else None


def _key_in_path(failure, case, response):
    """`/plan-templates/a/graph` is also the address of the template key `a/graph`, which takes a PATCH."""
    if not case.operation.path.endswith("/plan-templates/{template_id}/graph"):
        return None
    kind = type(failure).__name__
    allowed = kind == "AllowHeaderMismatch" and response.headers.get("allow") == ["GET, PATCH"]
    taken = kind == "UnsupportedMethodResponse" and response.request.method == "PATCH"
    return "PATCH of a key" if allowed or taken else None


def _nothing_broken(failure):
    """The fuzzer meant to break a schema, found no way, and sent what fits; its message says so."""
    accepted = type(failure).__name__ == "AcceptedNegativeData"
    return "nothing was broken" if accepted and "Invalid component: positive test case" in failure.message else None


def _too_large(failure, response):
    """A list longer than its schema allows can be longer than a body may be; 413 refuses it before it is parsed."""
    accepted = type(failure).__name__ == "AcceptedNegativeData"
    return "body too large" if accepted and response.status_code == 413 else None
