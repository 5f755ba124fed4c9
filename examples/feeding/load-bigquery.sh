#!/usr/bin/env bash
# Takes what is new or changed into the table feedback.answers of BigQuery. Once before:
#   bq mk feedback && bq mk --table feedback.answers answers.bigquery.json
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -f answers.cursor ]; then cp answers.cursor "$work/cursor"; fi
closeloop answers --cursor-file "$work/cursor" "$@" > "$work/answers.jsonl"
bq load --replace --source_format=NEWLINE_DELIMITED_JSON \
  feedback.answers_new "$work/answers.jsonl" "$here/answers.bigquery.json"
bq query --use_legacy_sql=false < "$here/take-in.sql"
mv "$work/cursor" answers.cursor
