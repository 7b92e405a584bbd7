# shellcheck shell=bash disable=SC2034
# Debezium with its own and Connect's own values.
. "$BENCH_DIR/peers/debezium.sh"
DBZ_PROFILE=default
