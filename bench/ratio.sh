#!/usr/bin/env bash
# ratio.sh SCENARIO [ROUNDS [MIN]]: the connector of this checkout against pg_recvlogical, in turn.
# Exits with 1 when a run is not valid or the ratio is below MIN.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
scenario=${1:?scenario} rounds=${2:-3} least=${3:-0}
"$BENCH_DIR/matrix.sh" "$rounds" "$scenario" floor outbox-cdc >/dev/null || [ $? = 3 ] || exit 1
"$BT" ratio -file "$OUT/drain.jsonl" -min "$least"
