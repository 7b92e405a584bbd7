# shellcheck shell=bash disable=SC2034
# A receive loop in Go that looks at nothing, without a sink: the least a connector in Go can cost.
PEER_KIND=self
peer_run() { "$BT" recv -dsn "$DSN" -slot "$SLOT" -pub "$PUB" -n "$N"; }
