#!/bin/sh
# Makes the secrets of docker-compose.yml, each once: what is there stays. Only the folder's owner may
# enter it; inside a container each file is readable by the process that it is mounted for.
set -eu
folder="$(dirname "$0")/secrets"
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"

put() { # put <name> <content>
  [ -e "$1" ] || { printf '%s\n' "$2" >"$1.draft" && chmod 644 "$1.draft" && mv "$1.draft" "$1"; }
}

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

for name in postgres_password owner_password service_password temporal_password; do put "$name" "$(random)"; done
# Between containers of one machine nothing is encrypted; elsewhere sslmode=verify-full.
put owner_url "postgresql://fund_owner:$(cat owner_password)@postgres:5432/fund_movements?sslmode=disable"
put database_url "postgresql://fund_service:$(cat service_password)@postgres:5432/fund_movements?sslmode=disable"
put secrets_key "$(head -c 32 /dev/urandom | base64 | tr -d '\n')"
# What `fundadmin keys audit-key` derives from it, for workers: it vouches for audit rows and opens no
# caller's secret.
key="$(base64 -d <secrets_key | od -An -v -tx1 | tr -d ' \n')"
audit="$(openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt "hexkey:$key" -kdfopt info:audit -binary HKDF | base64 | tr -d '\n')"
[ "${#audit}" -eq 44 ] || { echo "the audit key was not made: this needs OpenSSL 3" >&2; exit 1; }
put audit_key "$audit"
