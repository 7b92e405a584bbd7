#!/usr/bin/env bash
# restart.sh KILLS SCENARIO PEER...: kill -9 in the middle of a drain, KILLS times between 30 and 60 %
# of the records, start again at once, then compare the ids: what is missing is lost, duplicates are the replay.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
kills=${1:?kills} scenario=${2:?scenario}; shift 2
session "$@"
"$BENCH_DIR/load.sh" "$scenario"; loaded
bad=0
for peer in "$@"; do
  use_connector "$peer"
  fresh_slot; fresh_topic; peer_reset; marks=
  for k in $(seq 1 "$kills"); do
    at=$(( N * (30 + 30 * k / kills) / 100 ))
    say "$peer: kill -9 at $at of $N records"
    peer_start; watching -n "$at" >/dev/null; peer_kill
    marks+=" $at"
  done
  t0=$(now_ns); peer_start
  result=$(watching -n "$N" -settle 8s -t0 "$t0") || { result='{"error":"it did not reach the end"}'; bad=1; }
  confirmed=$(sql -c "select confirmed_flush_lsn >= '$END_LSN' from pg_replication_slots where slot_name = '$SLOT'")
  peer_stop
  verdict=$("$BT" verify -kept -brokers "$BROKERS" -topic "$TOPIC" -n "$N") || bad=1
  [ -n "$verdict" ] || die "the topic could not be read"
  drop_slot "$SLOT"
  save restart "$(printf '{"peer":"%s","label":"%s","compression":"%s","scenario":"%s","n":%s,"killed_at":"%s","confirmed_all":%s,"drain":%s,"verify":%s}' \
    "$peer" "$LABEL" "$COMPRESSION" "$SCENARIO" "$N" "${marks# }" "$([ "$confirmed" = t ] && echo true || echo false)" "$result" "$verdict")" >/dev/null
done
"$BT" report -dir "$OUT" restart
exit $bad
