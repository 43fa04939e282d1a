#!/usr/bin/env python3
"""Signs requests to the fund movement orchestrator, with nothing but Python's standard library.

    SVC_API_URL=http://localhost:8100 SVC_KEY_ID=… SVC_HMAC_SECRET=… \\
        python3 fund_api.py GET /v3/movements?limit=5
    … python3 fund_api.py POST /v3/movements '{"template_key": …}'
    … python3 fund_api.py POST '/v3/movements?dry_run=true' '{"template_key": …}'
"""

import hashlib
import hmac
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request


def canonical(method, target, body, timestamp, nonce):
    """The six lines that are signed. `target` is what stands in the request line, `body` bytes."""
    raw_path, _, query = target.partition("?")
    path = urllib.parse.unquote(raw_path, encoding="utf-8", errors="strict")
    return "\n".join([method, path, query, hashlib.sha256(body).hexdigest(), timestamp, nonce])


def signature(secret, text):
    """Lowercase hex. The key is the secret's text as it was shown, not decoded in any way."""
    return hmac.new(secret.encode("utf-8"), text.encode("utf-8"), hashlib.sha256).hexdigest()


def signed_headers(key_id, secret, method, target, body=b""):
    """The four headers of one request. Every attempt needs new ones: a nonce is taken once."""
    timestamp = str(int(time.time()))
    nonce = secrets.token_hex(16)
    return {
        "X-SVC-Key-Id": key_id,
        "X-SVC-Timestamp": timestamp,
        "X-SVC-Nonce": nonce,
        "X-SVC-Signature": signature(secret, canonical(method, target, body, timestamp, nonce)),
    }


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A signature is for one target: the answer 3xx is handed back as it is."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirects)


def exchange(base_url, key_id, secret, method, target, body=None, headers=None):
    """Sends one request; answers (status, headers, bytes), whatever the status."""
    data = b"" if body is None else json.dumps(body).encode("utf-8")
    signed = signed_headers(key_id, secret, method, target, data)
    sent = {**(headers or {}), **signed}
    if body is not None:
        sent["Content-Type"] = "application/json"
    request = urllib.request.Request(base_url + target, data=data or None, headers=sent, method=method)
    try:
        with OPENER.open(request, timeout=30) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers, refusal.read()


class PreviewAlarm(Exception):
    """What was to be a preview may have been carried out; the message names what was made."""


def assert_preview(target, status, answer):
    """Anything but 200 with `would_create` on a success of `?dry_run=true` is an alarm."""
    query = urllib.parse.parse_qs(target.partition("?")[2])
    if status >= 400 or query.get("dry_run") != ["true"]:
        return
    known = answer if isinstance(answer, dict) else {}
    if status == 200 and isinstance(known.get("would_create"), bool):
        return
    made = known.get("movement_id")
    what = f"movement {made} was made; reject or cancel it" if made else "look for what was made"
    raise PreviewAlarm(f"ALARM: a preview was answered {status} with no preview: {what}")


def send(base_url, key_id, secret, method, target, body=None, headers=None):
    """Sends one request; answers (status, parsed body, request id). Plain text is answered as text."""
    status, got, data = exchange(base_url, key_id, secret, method, target, body, headers)
    text = data.decode("utf-8", errors="replace")
    try:
        answer = text if got.get_content_type() == "text/plain" else json.loads(text)
    except ValueError:
        if status < 300:
            raise
        answer = text.strip()
    assert_preview(target, status, answer)
    return status, answer, got.get("X-Request-Id")


def call(base_url, key_id, secret, method, target, body=None, headers=None):
    """Sends one request; answers (status, parsed body)."""
    status, answer, _ = send(base_url, key_id, secret, method, target, body, headers)
    return status, answer


def refusal_line(status, answer, request_id):
    """What was refused and why, in one line, with the id under which the service's log has it."""
    detail = answer.get("detail", answer) if isinstance(answer, dict) else answer
    if isinstance(detail, dict):
        known = ("error", "message", "issues", "request_id")
        said = ": ".join(detail[name] for name in known[:2] if name in detail)
        issues = [f"{issue['path'] or 'body'} {issue['message']}" for issue in detail.get("issues", [])]
        more = [f"{name} {json.dumps(value)}" for name, value in detail.items() if name not in known]
        said = "; ".join([said, *issues, *more])
    else:
        said = str(detail)
    return f"error: {status} {' '.join(said.split())} (request {request_id or 'unknown'})"


def fail(words):
    """Nothing was asked, or nobody answered: one line, exit status 2."""
    print(f"error: {words}", file=sys.stderr)
    sys.exit(2)


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    for name in ("SVC_KEY_ID", "SVC_HMAC_SECRET"):
        if not os.environ.get(name):
            fail(f"{name} is not set; an administrator issues keys with `fundadmin keys issue`")
    try:
        body = json.loads(sys.argv[3]) if len(sys.argv) == 4 else None
    except ValueError as fault:
        fail(f"the body is no JSON: {fault}")
    base_url = os.environ.get("SVC_API_URL", "http://localhost:8100")
    key = os.environ["SVC_KEY_ID"], os.environ["SVC_HMAC_SECRET"]
    try:
        status, answer, request_id = send(base_url, *key, sys.argv[1], sys.argv[2], body)
    except (urllib.error.URLError, OSError) as fault:
        fail(f"{base_url} does not answer: {getattr(fault, 'reason', fault)}")
    except PreviewAlarm as alarm:
        print(f"error: {alarm}", file=sys.stderr)
        sys.exit(1)
    except ValueError as fault:
        fail(f"{base_url} answered with something that is no JSON: {fault}")
    if status == 202:
        # An approval rule makes the call wait for people: nothing was changed yet.
        print(f"waits for approvals: change request {answer['change_request_id']}", file=sys.stderr)
        sys.exit(6)
    if status >= 300:
        print(refusal_line(status, answer, request_id), file=sys.stderr)
        sys.exit(1)
    print(answer if isinstance(answer, str) else json.dumps(answer, indent=2))


if __name__ == "__main__":
    main()
