// Package testserver is what the packages that run real servers for tests share:
// a cache folder for programs, folders for running servers that are swept when
// their process was killed, locks between processes, free ports, and children
// that die with this process.
package testserver
