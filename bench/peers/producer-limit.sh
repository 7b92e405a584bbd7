# shellcheck shell=bash disable=SC2034
# franz-go from memory into the same topic, acks=all and idempotent: what the broker can take.
PEER_KIND=self PEER_SINK=1
peer_run() { "$BT" produce -brokers "$BROKERS" -topic "$TOPIC" -n "$N" -compression "$COMPRESSION" -pid broker="$(kafka_pid)"; }
