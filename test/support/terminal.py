"""Runs a program on a terminal of its own, and types what it is told to once it is asked.

    python3 terminal.py '[["Approve this\\\\?", "y\\r"]]' program argument ...

What the program writes is written here; its exit status is ours, 128 and the signal's number where
one ended it.
"""

import json
import os
import pty
import re
import select
import signal
import sys
import time

LIMIT_SECONDS = 90

steps = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
seen = ""
until = time.monotonic() + LIMIT_SECONDS
while True:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        sys.stdout.buffer.write(data)
        seen += data.decode("utf-8", "replace")
    if steps and re.search(steps[0][0], seen):
        os.write(terminal, steps.pop(0)[1].encode())
        seen = ""
    if time.monotonic() > until:
        os.kill(child, signal.SIGKILL)
sys.stdout.flush()
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
