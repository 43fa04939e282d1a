"""What the fuzzer is told of this service: who sends a request, and ids that exist."""

import hashlib
import re

import schemathesis
from signing import ROLE_HEADER, role_of

reached = set()
failures = 0
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


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts in ids that exist and decides who sends it."""
    content = repr((case.method, case.path, case.path_parameters, case.query, case.body))
    reached.add(case.operation.label)
    parameters = case.path_parameters
    if isinstance(parameters, dict):
        case.path_parameters = {name: _choice(name, value, content) for name, value in parameters.items()}
    body = case.body
    if isinstance(body, dict):
        changed = {name: _choice(name, value, content) for name, value in body.items()}
        if changed.get("template_key") != body.get("template_key") and isinstance(body.get("template_version"), int):
            changed["template_version"] = min(max(body["template_version"], 0), 1)
        # A new template must have a key of its own to be one.
        case.body = body if case.operation.path.endswith("/plan-templates") else changed
    case.headers = {**(case.headers or {}), ROLE_HEADER: role_of(content)}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Counts what is reported; nothing is left out."""
    global failures
    failures += 1
    return True
