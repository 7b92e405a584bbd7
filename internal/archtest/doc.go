// Package archtest holds the project's rules that a program can check, as
// tests: which package may import which (imports_test.go), what pure packages
// may not call, and the house rules for files and functions (house_test.go).
package archtest
