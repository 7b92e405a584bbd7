package config

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestServiceLinks: what Kubernetes injects for Services whose names start with
// outbox-cdc is no fault; what only looks like it is.
func TestServiceLinks(t *testing.T) {
	noLibpq(t)
	mustLoad(t,
		"SERVICE_HOST=10.0.0.1", "SERVICE_PORT=9855", "SERVICE_PORT_HTTP=9855", "SERVICE_PORT_HTTP_METRICS=1",
		"PORT=tcp://10.0.0.1:9855", "PORT_9855_TCP=tcp://10.0.0.1:9855", "PORT_9855_TCP_PROTO=tcp",
		"PORT_9855_TCP_PORT=9855", "PORT_9855_TCP_ADDR=10.0.0.1", "PORT_53_UDP=udp://10.0.0.1:53", "PORT_53_UDP_ADDR=10.0.0.1",
		"EU_METRICS_SERVICE_HOST=10.0.0.1", "EU_METRICS_PORT=tcp://10.0.0.1:1", "EU_METRICS_PORT_1_TCP_ADDR=10.0.0.1")
	for _, name := range []string{"SERVICE_HOSTS", "SERVICEPORT", "PORT_9855", "PORT_X_TCP", "XPORT", "PORT_9855_TCP_NAME"} {
		onlyFault(t, environOf(name+"=x"), name, "no such setting; the nearest is OUTBOX_CDC_")
	}
}

func TestEnvironIsReadAsGetenvDoes(t *testing.T) {
	noLibpq(t)
	environ := append([]string{"OUTBOX_CDC_NAME=first", "OUTBOX_CDC_NAME=second", "broken", "=x", "outbox_cdc_x=lower case is not ours"}, environOf()...)
	c, err := Load(environ)
	if err != nil || c.Name != "first" {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestNearestNames(t *testing.T) {
	noLibpq(t)
	for wrong, want := range map[string]string{
		"KAFKA_BROKER": "KAFKA_BROKERS", "TABLE": "TABLES", "DATABASE_URI": "DATABASE_URL", "ROUTE_FILE": "ROUTES_FILE",
		"MAX_INFLIGHT_BYTES": "MAX_IN_FLIGHT_BYTES", "LOGLEVEL": "LOG_LEVEL",
	} {
		onlyFault(t, environOf(wrong+"=x"), wrong, "nearest is "+Prefix+want)
	}
}

func TestTwinFiles(t *testing.T) {
	for content, want := range map[string]string{
		"a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", " a ": " a ", "* -> drop\n# x\n": "* -> drop\n# x", "": "",
	} {
		if got, err := readValueFile(writeFile(t, content)); err != nil || got != want {
			t.Errorf("%q: got %q, %v", content, got, err)
		}
	}
	if _, err := readValueFile(writeFile(t, strings.Repeat("x", maxFileSize+1))); err == nil {
		t.Error("a file above the bound was read")
	}
	if _, err := readValueFile(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func TestEnvFile(t *testing.T) {
	got, err := parseEnvFile(strings.NewReader("# a comment\n\nA=1\n  B = two words # kept  \nC='it is \"q\" $HOME'\nD=\"it's\" # gone\nE=\nF=a=b\r\n_G1=''\n"))
	want := []string{"A=1", "B=two words # kept", `C=it is "q" $HOME`, "D=it's", "E=", "F=a=b", "_G1="}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for text, part := range map[string]string{
		"A=1\nnonsense " + canary:     "line 2: want NAME=value",
		"A-B=" + canary:               "line 1: want NAME=value",
		"1A=" + canary:                "line 1: want NAME=value",
		"export A=" + canary:          "line 1: want NAME=value",
		"=" + canary:                  "line 1: want NAME=value",
		"A='" + canary:                "line 1: A: the quote is not closed",
		"A='x' " + canary:             "line 1: A: text after the closing quote",
		"A=1\n#\nA=" + canary:         "line 3: A was set in line 1 already",
		strings.Repeat("x", 2<<20):    "a line is longer than 1MiB",
		"A=\"x\"y" + canary + "\nB=1": "line 1: A: text after",
	} {
		_, err := parseEnvFile(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), canary) {
			t.Errorf("%.40q: got %v, want %q", text, err, part)
		}
	}
}

func TestReadEnvFile(t *testing.T) {
	path := writeFile(t, "OUTBOX_CDC_SLOT=s\n")
	if got, err := ReadEnvFile(path); err != nil || !slices.Equal(got, []string{"OUTBOX_CDC_SLOT=s"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadEnvFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want the path and the line", err)
	}
	if _, err := ReadEnvFile(path + "-none"); err == nil {
		t.Error("a missing file is no error")
	}
}

func TestMergeEnv(t *testing.T) {
	environ := []string{"A=1", "B="}
	got := MergeEnv(environ, []string{"A=2", "B=2", "C=2"})
	if want := []string{"A=1", "B=", "C=2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(environ) != 2 {
		t.Error("the given environment changed")
	}
}

// FuzzEnvFile: what is read can be written and read again.
func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nB='x'\n#c\n")
	f.Add("A=\"'\"")
	f.Fuzz(func(t *testing.T, text string) {
		vars, err := parseEnvFile(strings.NewReader(text))
		if err != nil {
			return
		}
		var b strings.Builder
		for _, kv := range vars {
			name, value, _ := strings.Cut(kv, "=")
			quote := "'"
			if strings.Contains(value, quote) {
				quote = `"`
			}
			if strings.Contains(value, quote) {
				quote = ""
			}
			b.WriteString(name + "=" + quote + value + quote + "\n")
		}
		again, err := parseEnvFile(strings.NewReader(b.String()))
		if err != nil || !slices.Equal(vars, again) {
			t.Errorf("%q became %q, %v", vars, again, err)
		}
	})
}

// FuzzLoad: any environment is either valid or gives an *Error; nothing panics.
func FuzzLoad(f *testing.F) {
	for _, s := range Settings() {
		f.Add(strings.TrimPrefix(s.Name, Prefix), s.Default)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		if strings.HasSuffix(name, fileSuffix) || strings.ContainsAny(value, "/") {
			return // no files of the machine
		}
		c, err := Load(environOf(name + "=" + value))
		if (c == nil) == (err == nil) {
			t.Errorf("got %v and %v", c, err)
		}
	})
}
