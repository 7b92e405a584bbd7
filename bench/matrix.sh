#!/usr/bin/env bash
# matrix.sh ROUNDS "SCENARIO..." PEER...: loads each scenario and drains it with the
# peers in turn, ROUNDS times, so that a slow minute of the machine hits all of them.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
rounds=${1:?rounds} scenarios=${2:?scenarios}; shift 2
session "$@"
[ ! -e "$OUT/drain.jsonl" ] || [ -n "${APPEND:-}" ] || mv "$OUT/drain.jsonl" "$OUT/drain.$(now_ns).jsonl"
bad=0
for scenario in $scenarios; do
  "$BENCH_DIR/load.sh" "$scenario"
  for round in $(seq 1 "$rounds"); do
    for peer in "$@"; do
      say "$scenario, round $round of $rounds: $peer"
      "$BENCH_DIR/drain.sh" "$peer" >/dev/null || bad=1
    done
  done
done
"$BT" report -dir "$OUT" drain
[ $bad = 0 ] || exit 3 # not every run is valid
