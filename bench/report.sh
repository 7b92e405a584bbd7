#!/usr/bin/env bash
# report.sh [drain|latency|restart|outage]...: the tables of what was measured, all of them by default.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
"$BT" report -dir "$OUT" "$@"
