#!/usr/bin/env bash
# load.sh SCENARIO: publication and base slot first, then N rows. What was loaded is noted in $STATE.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
scenario=${1:?small, batch, huge, large or noise}
rm -f "$STATE/loaded"
drop_slot "$SLOT"; drop_slot "$BASE_SLOT"
sql -c "drop publication if exists $PUB" -f "$BENCH_DIR/schema.sql"
sql -c "create publication $PUB for table outbox with (publish = 'insert')"
sql -c checkpoint
sql -c "select pg_create_logical_replication_slot('$BASE_SLOT', 'pgoutput')" >/dev/null
export PGOPTIONS='-c synchronous_commit=off'
t0=$(now_ns)
columns="aggregate_type, aggregate_id, event_type, partition_key, payload"
rows="select 'order', 'ord-' || i, 'OrderPlaced', 'k' || (i::bigint * 7919 % 10000), bench_payload(i)"
case $scenario in
small|noise)
  # Each client owns its keys, so ids of one key are in the order of their commits.
  printf '\\set k :client_id * 1250 + random(0, 1249)\ninsert into outbox (%s) values (%s);\n' "$columns" \
    "'order', 'ord-' || :k, 'OrderPlaced', 'k' || :k, bench_payload(:k)" > "$RUN/pgbench.sql"
  if [ "$scenario" = noise ]; then
    echo "insert into noise (a, b, body) select 'noise', i, repeat('x', 200) from generate_series(1, 9) i;" >> "$RUN/pgbench.sql"
    n=${N:-100000}
  else n=${N:-200000}; fi
  [ $((n % 8)) = 0 ] || die "N must be a multiple of 8: the rows come from 8 clients"
  pgbench -n -M prepared -c 8 -j 2 -t $((n / 8)) -f "$RUN/pgbench.sql" >"$RUN/pgbench.log" 2>&1 || { tail -5 "$RUN/pgbench.log" >&2; die "pgbench failed"; } ;;
batch)
  n=${N:-1000000}
  [ $((n % 1000)) = 0 ] || die "N must be a multiple of 1000: the rows of a transaction"
  sql -c "do \$\$ begin for b in 0..$((n / 1000 - 1)) loop
    insert into outbox ($columns) $rows from generate_series(b * 1000 + 1, (b + 1) * 1000) i; commit; end loop; end \$\$" ;;
huge|large)
  n=${N:-$([ "$scenario" = huge ] && echo 400000 || echo 1000000)}
  sql -c "insert into outbox ($columns) $rows from generate_series(1, $n) i" ;;
*) die "unknown scenario $scenario" ;;
esac
unset PGOPTIONS
got=$(sql -c "select count(*) || ' ' || min(id) || ' ' || max(id) from outbox")
[ "$got" = "$n 1 $n" ] || die "loaded $got, wanted $n rows with ids 1 to $n"
end=$(sql -c "select pg_current_wal_insert_lsn()")
sql -c checkpoint # WAL beyond the end, so that a reader learns that it is there
printf 'SCENARIO=%s\nN=%s\nEND_LSN=%s\n' "$scenario" "$n" "$end" > "$STATE/loaded"
say "loaded $scenario: $n rows in $(( ($(now_ns) - t0) / 1000000 )) ms, payload $(sql -c "select round(avg(length(payload::text))) from outbox where id <= 1000") B, WAL $(sql -c "select pg_size_pretty(pg_wal_lsn_diff('$end', confirmed_flush_lsn)) from pg_replication_slots where slot_name = '$BASE_SLOT'")"
