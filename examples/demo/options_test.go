package main

import (
	"testing"
	"time"
)

func TestReadOptions(t *testing.T) {
	tests := []struct {
		length string
		want   time.Duration
		ok     bool
	}{
		{"", defaultLength, true},
		{"3s", 3 * time.Second, true},
		{"10m", 10 * time.Minute, true},
		{"999ms", 0, false},
		{"20", 0, false},
		{"-1m", 0, false},
		{"soon", 0, false},
	}
	for _, test := range tests {
		env := map[string]string{"DEMO_FOR": test.length, "DEMO_CONNECTOR": "bin/x", "NO_COLOR": "1"}
		o, err := readOptions(func(name string) string { return env[name] })
		if (err == nil) != test.ok {
			t.Errorf("DEMO_FOR=%q: error %v", test.length, err)
		}
		if test.ok && (o.length != test.want || o.binary != "bin/x" || !o.noColor) {
			t.Errorf("DEMO_FOR=%q: %+v, want %v", test.length, o, test.want)
		}
	}
}

func TestPartsFillTheLength(t *testing.T) {
	if sum := partCalm + partDown + partAgain + partQuiet + partLast; sum != 100 {
		t.Errorf("the acts last %d %% of the length", sum)
	}
	if got := (options{length: 20 * time.Second}).part(partCalm); got != 7*time.Second {
		t.Errorf("part = %v", got)
	}
}
