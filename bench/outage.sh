#!/usr/bin/env bash
# outage.sh SECONDS SCENARIO PEER...: the broker stands still (SIGSTOP) for SECONDS when 30 % of the records
# are there: connections stay open and nothing answers, as behind a dead switch. Then it goes on, and the time
# from there to the last record, the connector's peak memory and the ids are the result.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
seconds=${1:?seconds} scenario=${2:?scenario}; shift 2
session "$@"
"$BENCH_DIR/load.sh" "$scenario"; loaded
bad=0
for peer in "$@"; do
  use_connector "$peer"
  fresh_slot; fresh_topic; peer_reset; peer_start
  at=$(watching -n $((N * 30 / 100)) | sed 's/.*"records":\([0-9]*\).*/\1/')
  kill -STOP "$(kafka_pid)"
  say "$peer: the broker stands still for $seconds s"
  sleep "$seconds"
  kill -CONT "$(kafka_pid)"; t0=$(now_ns)
  result=$(watching -n "$N" -settle 8s -t0 "$t0") || { result='{"error":"it did not reach the end"}'; bad=1; }
  peer_stop
  verdict=$("$BT" verify -kept -brokers "$BROKERS" -topic "$TOPIC" -n "$N") || bad=1
  [ -n "$verdict" ] || die "the topic could not be read"
  drop_slot "$SLOT"
  save outage "$(printf '{"peer":"%s","label":"%s","compression":"%s","scenario":"%s","n":%s,"frozen_at":%s,"frozen_s":%s,"drain":%s,"verify":%s}' \
    "$peer" "$LABEL" "$COMPRESSION" "$SCENARIO" "$N" "$at" "$seconds" "$result" "$verdict")" >/dev/null
done
"$BT" report -dir "$OUT" outage
exit $bad
