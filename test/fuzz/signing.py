"""Signs each request where it leaves the process: nothing can change method, target or body after that.

The libraries above normalise paths and encode queries; what is signed here is the request line itself. It is
signed with the client that callers are given, so a fault of that file fails the run.
"""

import hashlib
import sys
from collections import Counter
from pathlib import Path

import urllib3.connectionpool
from urllib3.connection import HTTPConnection

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "clients"))
import fund_api  # noqa: E402

ROLE_HEADER = "X-Fuzz-Role"
"""Says in the reproduction of a failure who sent it; never sent itself."""

_OWN_HEADERS = {"x-svc-key-id", "x-svc-timestamp", "x-svc-nonce", "x-svc-signature", ROLE_HEADER.lower()}


def role_of(content):
    """Who sends a request: the same for the same content, so that a repeat of it is a repeat."""
    bucket = int.from_bytes(hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()[:4], "big") % 100
    return "nobody" if bucket < 2 else "agent" if bucket < 10 else "operator" if bucket < 22 else "admin"


class Traffic:
    """What was really sent to the API and what came back."""

    def __init__(self):
        self.by_role = Counter()
        self.by_status = Counter()

    @property
    def sent(self):
        return sum(self.by_role.values())

    @property
    def signed(self):
        return self.sent - self.by_role["nobody"]


def sign_everything(host, port, keys):
    """Every connection to the API signs from now on; answers the count of its traffic."""
    traffic = Traffic()

    class SigningConnection(HTTPConnection):
        def request(self, method, url, body=None, headers=None, **options):
            if (self.host, self.port) != (host, port):
                return super().request(method, url, body=body, headers=headers, **options)
            given = headers or {}
            role = next((_text(value) for name, value in given.items() if name.lower() == ROLE_HEADER.lower()), "admin")
            kept = {name: value for name, value in given.items() if name.lower() not in _OWN_HEADERS}
            traffic.by_role[role] += 1
            if role != "nobody":
                key = keys[role]
                kept.update(fund_api.signed_headers(key["keyId"], key["secret"], method, url, _bytes(body)))
            return super().request(method, url, body=body, headers=kept, **options)

        def getresponse(self):
            answer = super().getresponse()
            if (self.host, self.port) == (host, port):
                traffic.by_status[answer.status] += 1
            return answer

    urllib3.connectionpool.HTTPConnectionPool.ConnectionCls = SigningConnection
    return traffic


def _bytes(body):
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8")
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    raise TypeError(f"a body of {type(body).__name__} cannot be signed before it is sent")


def _text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value
