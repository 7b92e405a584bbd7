// Package config turns the environment into typed, validated values.
//
// The structs in settings*.go are the only list of settings: the parser, the
// check for misspelt names, "lint --print" and docs/configuration.md all read
// it. Load reports every fault it finds at once and never repeats the value of
// a secret.
package config

//go:generate go run ./gendoc ../../docs/configuration.md
