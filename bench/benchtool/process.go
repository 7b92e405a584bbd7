package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// msPerTick is the unit of /proc/PID/stat: USER_HZ is 100 on Linux.
// (proc_pid_stat(5), fields 14 and 15.)
const msPerTick = 10

// parseStat takes user and system time, in milliseconds, out of /proc/PID/stat.
// A process that has ended but was not waited for is a zombie.
func parseStat(stat string) (ms int64, zombie bool, err error) {
	// The name, field 2, may hold blanks and brackets: the last one ends it.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, false, errors.New("a line of /proc/PID/stat is too short")
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("user time: %w", err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("system time: %w", err)
	}
	return (user + system) * msPerTick, fields[0] == "Z", nil
}

// cpuMS is the CPU time of a process; false once it is gone.
func cpuMS(pid int) (int64, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	ms, zombie, err := parseStat(string(stat))
	return ms, err == nil && !zombie
}

// gone tells that a process has ended.
func gone(pid int) bool {
	_, running := cpuMS(pid)
	return !running
}

// parsePeakRSS takes the peak of the resident memory, in MiB, out of
// /proc/PID/status; 0 where it is not there.
func parsePeakRSS(status string) int64 {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			if err == nil {
				return kib / 1024
			}
		}
	}
	return 0
}

func peakRSS(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return parsePeakRSS(string(status))
}

// ownMS is this process's own CPU time.
func ownMS() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1e6
}
