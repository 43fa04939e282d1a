#!/usr/bin/env python3
"""Signs requests to the fund movement orchestrator, with nothing but Python's standard library.

    SVC_API_URL=http://localhost:8100 SVC_KEY_ID=… SVC_HMAC_SECRET=… \\
        python3 fund_api.py GET /v3/movements?limit=5
    … python3 fund_api.py POST /v3/movements '{"template_key": …}'
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


def call(base_url, key_id, secret, method, target, body=None):
    """Sends one request; answers (status, parsed body)."""
    data = b"" if body is None else json.dumps(body).encode("utf-8")
    headers = signed_headers(key_id, secret, method, target, data)
    if body is not None:
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(base_url + target, data=data or None, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    body = json.loads(sys.argv[3]) if len(sys.argv) == 4 else None
    status, answer = call(
        os.environ.get("SVC_API_URL", "http://localhost:8100"),
        os.environ["SVC_KEY_ID"],
        os.environ["SVC_HMAC_SECRET"],
        sys.argv[1],
        sys.argv[2],
        body,
    )
    print(json.dumps(answer, indent=2))
    sys.exit(0 if status < 400 else 1)


if __name__ == "__main__":
    main()
