#!/bin/sh
# Runs once, when the cluster is made: the owner of the tables, the service, which may use them and
# owns none, and Temporal with its two databases.
set -eu
role() { # role <name> <file of its password>
  psql --set=ON_ERROR_STOP=1 --username=postgres --set=name="$1" --set=password="$(cat "/run/secrets/$2")" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
SQL
}
role fund_owner owner_password
role fund_service service_password
role temporal temporal_password
psql --set=ON_ERROR_STOP=1 --username=postgres <<'SQL'
CREATE DATABASE fund_movements OWNER fund_owner;
REVOKE ALL ON DATABASE fund_movements FROM PUBLIC;
GRANT CONNECT ON DATABASE fund_movements TO fund_service;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SQL
