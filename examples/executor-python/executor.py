#!/usr/bin/env python3
"""An executor in one file of Python, standard library only: it is the bank itself, with its books in SQLite.

    python3 examples/executor-python/executor.py --port 8301 --data .data/python-bank

Its registry entry says whom it pays: "payees": [{"field": "to", "family": "cex"}].

The idempotency key is the primary key of the table of transfers. One committed row is at once the memory of the submit
and its effect, so there is nothing between them that a crash could separate.
"""

import argparse
import hmac
import json
import re
import signal
import sqlite3
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BODY_LIMIT = 4 * 1024 * 1024
AMOUNT = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?")
PHASES = ("preflight", "prepare", "submit", "observe", "recover", "cancel")


class Rejected(Exception):
    """A request that cannot be served however often it is repeated."""

    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


class Books:
    """The transfers, one row for one key."""

    def __init__(self, folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.db = sqlite3.connect(Path(folder) / "books.sqlite", check_same_thread=False, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        # FULL: a committed row survives a power cut, not only the end of this process.
        self.db.execute("PRAGMA synchronous = FULL")
        self.db.execute(
            "CREATE TABLE IF NOT EXISTS transfers ("
            "id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, receiver TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL)"
        )

    def find(self, key):
        with self.lock:
            return self.db.execute("SELECT id, receiver, asset, amount FROM transfers WHERE key = ?", (key,)).fetchone()

    def transfer(self, key, receiver, asset, amount):
        """Makes the transfer unless the key has one already; the database decides, also between two threads."""
        with self.lock:
            self.db.execute(
                "INSERT INTO transfers (key, receiver, asset, amount) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                (key, receiver, asset, amount),
            )
        return self.find(key)

    def count(self, key):
        with self.lock:
            return self.db.execute("SELECT count(*) FROM transfers WHERE key = ?", (key,)).fetchone()[0]


class Executor:
    """The five phases and cancel. Each takes the request's body and answers an execution result."""

    def __init__(self, books):
        self.books = books

    def preflight(self, body):
        context = read_context(body)
        if not receiver_of(context):
            return failed("CONFIG_INVALID", 'config needs "to", the receiving account')
        if not AMOUNT.fullmatch(context["amount"]):
            return failed("AMOUNT_INVALID", "the amount is not a decimal number")
        return None

    def prepare(self, body):
        context = read_context(body)
        action = {"to": receiver_of(context), "asset": context["asset"], "amount": context["amount"]}
        return self.preflight(body) or {"next_state": "SUBMITTING", "prepared_action": action}

    def submit(self, body):
        context = read_context(field(body, "context", dict))
        action = field(body, "prepared_action", dict)
        wanted = tuple(field(action, name, str) for name in ("to", "asset", "amount"))
        row = self.books.transfer(context["idempotency_key"], *wanted)
        if row[1:] != wanted:
            raise Rejected(409, "KEY_REUSED", "this idempotency key was used for something else")
        return {"next_state": "SUBMITTED", "external_ref": f"transfer-{row[0]}"}

    def observe(self, body):
        return self.standing(body) or {"next_state": "OBSERVING", "retry_after_seconds": 1}

    def recover(self, body):
        # A row that is not there was never committed, and a submit that still runs will find the same key.
        return self.standing(body) or {"next_state": "READY"}

    def cancel(self, body):
        return self.observe(body)

    def standing(self, body):
        row = self.books.find(read_context(body)["idempotency_key"])
        return row and {"next_state": "COMPLETED", "external_ref": f"transfer-{row[0]}", "output": output_of(row)}


def output_of(row):
    """Asked for, sent, kept and received are told apart: later nodes move what was received. This bank takes no fee."""
    transfer, _receiver, asset, amount = row
    amounts = {"requested_amount": amount, "submitted_amount": amount, "received_amount": amount}
    return {"transfer": transfer, **amounts, "fee_amount": "0", "fee_asset": asset}


def failed(code, message):
    return {"next_state": "FAILED", "error_code": code, "error_message": message}


def field(value, name, kind):
    """A required field of the right type; unknown fields are left alone, since later versions may bring more."""
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, kind) or (kind is str and not found):
        raise Rejected(422, "INVALID_REQUEST", f"{name} is missing or of the wrong type")
    return found


def read_context(value):
    for name in ("movement_id", "node_key", "idempotency_key", "action_type", "asset", "amount"):
        field(value, name, str)
    for name in ("config", "input_params", "intent"):
        field(value, name, dict)
    if type(value.get("attempt")) is not int or value["attempt"] < 1:
        raise Rejected(422, "INVALID_REQUEST", "attempt must be a positive integer")
    return value


def receiver_of(context):
    receiver = context["config"].get("to")
    return receiver if isinstance(receiver, str) and 0 < len(receiver) <= 64 else None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    executor = None
    token_file = None

    def do_GET(self):
        self.reply_to(self.look)

    def do_POST(self):
        self.reply_to(self.run_phase)

    def look(self, path):
        if path == "/health":
            return 200, {"status": "ok"}
        if path.startswith("/effects/"):
            return 200, {"effects": self.executor.books.count(urllib.parse.unquote(path[len("/effects/") :]))}
        raise Rejected(405 if path[1:] in PHASES else 404, "NOT_FOUND", "there is nothing to get here")

    def run_phase(self, path):
        phase = path[1:]
        if phase not in PHASES:
            raise Rejected(404, "NOT_FOUND", "this executor has no such phase")
        result = getattr(self.executor, phase)(self.read_body())
        return (204, None) if result is None else (200, result)

    def reply_to(self, work):
        try:
            self.check_token()
            status, body = work(self.path.split("?")[0].rstrip("/"))
        except Rejected as refusal:
            # The body may not have been read to its end, so this connection cannot carry another call.
            self.close_connection = True
            status, body = refusal.status, {"error_code": refusal.code, "error_message": str(refusal)}
        except Exception as error:  # whatever it is, the caller gets a 5xx and asks again
            self.close_connection = True
            print(f"{self.path}: {error!r}", file=sys.stderr)
            status, body = 500, {"error_code": "INTERNAL_ERROR", "error_message": "the executor failed"}
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if body is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def check_token(self):
        if self.token_file is None:
            return
        expected = "Bearer " + Path(self.token_file).read_text().strip()
        if not hmac.compare_digest(self.headers.get("Authorization", "").encode(), expected.encode()):
            raise Rejected(401, "UNAUTHORIZED", "a valid bearer token is needed")

    def read_body(self):
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise Rejected(411, "LENGTH_REQUIRED", "a Content-Length is needed")
        if int(length) > BODY_LIMIT:
            raise Rejected(413, "BODY_TOO_LONG", f"the body is longer than {BODY_LIMIT} bytes")
        try:
            return json.loads(self.rfile.read(int(length)).decode("utf-8"))
        except (ValueError, RecursionError):
            raise Rejected(400, "INVALID_JSON", "the body is not JSON in UTF-8") from None

    def log_message(self, *_):
        """Quiet: only errors are worth a line."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A caller that has gone is no error."""


def main():
    parser = argparse.ArgumentParser(description="A bank with its books in SQLite, as an executor over HTTP.")
    parser.add_argument("--port", type=int, default=8301)
    parser.add_argument("--data", default=".data/executor-python")
    parser.add_argument("--token-file")
    options = parser.parse_args()
    Handler.executor = Executor(Books(options.data))
    Handler.token_file = options.token_file
    server = Server(("127.0.0.1", options.port), Handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
