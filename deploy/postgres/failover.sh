#!/usr/bin/env bash
# Makes the synchronous standby of the service's Postgres the primary. As the user that Postgres runs
# as, with its pg_ctl in the PATH, in this order:
#
#   failover.sh fence <data folder>     on the machine of the old primary: ends it, and whoever starts
#                                       it again starts a standby, which takes no writes
#   failover.sh promote <data folder>   on the machine of the standby: from now on it takes writes
#
# A machine that cannot be reached is fenced by taking its power or its network, and its folder
# before Postgres is started there again. Never promote before the old primary is fenced.
set -euo pipefail

usage() {
  echo "usage: $0 fence|promote <data folder>" >&2
  exit 2
}
[ $# -eq 2 ] || usage
data=$2
[ -f "$data/PG_VERSION" ] || { echo "$data is no data folder of Postgres" >&2; exit 1; }

case $1 in
  fence)
    # First, so that it holds for whoever starts it while it is being stopped.
    touch "$data/standby.signal" "$data/fenced"
    # 3: it does not run. Anything else says nothing of that, and a primary that runs is not fenced.
    status=0
    pg_ctl status -D "$data" >/dev/null || status=$?
    case $status in
      0) pg_ctl stop -D "$data" -m immediate >/dev/null ;;
      3) ;;
      *) echo "pg_ctl does not say whether $data runs ($status): it may take writes" >&2; exit 1 ;;
    esac
    echo "$data is fenced: it starts as a standby"
    ;;
  promote)
    # What the other machine has taken since is not in it: two primaries would each have a part.
    [ ! -f "$data/fenced" ] || { echo "$data was fenced: promote the other, and make this a new standby of it (pg_basebackup -R, or pg_rewind -R, and no file fenced)" >&2; exit 1; }
    [ -f "$data/standby.signal" ] || { echo "$data is no standby: nothing was done" >&2; exit 1; }
    pg_ctl promote -D "$data" -w -t 60 >/dev/null
    echo "$data is the primary"
    ;;
  *) usage ;;
esac
