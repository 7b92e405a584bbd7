// Package pgtest runs real, throw-away PostgreSQL servers of the majors 14 to
// 18 for tests, the demo and the benchmarks, without Docker and without an
// installed PostgreSQL.
//
// The programs are fetched once by fergusstrange/embedded-postgres, compared
// with a SHA-256 that is pinned here, and kept in a cache folder that all test
// processes of a user share. Each server gets a copy of a template data
// directory and runs as a direct child of this process:
//
//   - as root, PostgreSQL refuses to start, so the child drops to another user;
//   - on Linux the server dies with the process that started it, even after
//     kill -9 (elsewhere only Close ends it);
//   - it listens on 127.0.0.1 on a free port outside the ephemeral range.
//
// A test package declares one Pool, wraps its TestMain in Pool.Main and takes a
// fresh database from Pool.NewDB. Tests that stop, kill or reconfigure a server
// start their own with Run.
package pgtest
