#!/bin/sh
# Temporal's schema and its updates, in the databases that postgres-roles.sh has made.
set -eu
SQL_PASSWORD=$(cat /run/secrets/temporal_password)
export SQL_PASSWORD
for each in temporal:temporal temporal_visibility:visibility; do
  tool="temporal-sql-tool --plugin postgres12 --ep postgres -p 5432 -u temporal --db ${each%:*}"
  # Refused where the tables of versions are there already; update-schema says what is wrong else.
  $tool setup-schema -v 0.0 || true
  $tool update-schema --schema-name "postgresql/v12/${each#*:}"
done
