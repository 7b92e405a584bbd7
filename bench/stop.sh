#!/usr/bin/env bash
# stop.sh: stops what start.sh started.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
if kafka_running; then
  pid=$(kafka_pid); kill "$pid"
  for _ in $(seq 1 100); do kafka_running || break; sleep 0.1; done
  if kafka_running; then kill -9 "$pid"; fi
fi
rm -f "$RUN/kafka.pid"
if pg_running; then pg_as "$PGBIN/pg_ctl" -D "$PGDATA_DIR" -m fast -w stop >/dev/null; fi
