#!/usr/bin/env bash
# Takes what is new or changed into the table feedback.answers of PostgreSQL, which PGHOST, PGDATABASE … name. Once before:
#   psql -f answers.postgres.sql
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -f answers.cursor ]; then cp answers.cursor "$work/cursor"; fi
closeloop answers --cursor-file "$work/cursor" --format csv --fields Store,Agent "$@" > "$work/answers.csv"
psql --set ON_ERROR_STOP=1 \
  --command 'delete from feedback.answers_new' \
  --command "\\copy feedback.answers_new from '$work/answers.csv' with (format csv, header true)" \
  --file "$here/take-in.sql"
mv "$work/cursor" answers.cursor
