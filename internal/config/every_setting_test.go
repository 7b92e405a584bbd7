package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"
)

// good is a value that a setting takes, other than its default where there is one.
func good(s Setting) string {
	switch strings.TrimPrefix(s.Name, Prefix) {
	case "DATABASE_URL":
		return "postgres://u:p@127.0.0.1/other"
	case "KAFKA_BROKERS":
		return "localhost:9092"
	case "LISTEN_ADDRESS":
		return "127.0.0.1:1"
	case "KAFKA_OAUTH_TOKEN_URL":
		return "https://login.example.com/token"
	}
	switch s.Kind {
	case "duration", "size", "integer":
		return s.Max
	case "boolean":
		return "true"
	case "choice":
		return s.Built[len(s.Built)-1]
	}
	return "abc"
}

// company is what a setting needs beside it.
func company(name string) []string {
	oauth := []string{
		"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=OAUTHBEARER", "KAFKA_OAUTH_TOKEN_URL=https://h/token",
		"KAFKA_OAUTH_CLIENT_ID=c", "KAFKA_OAUTH_CLIENT_SECRET=s", "KAFKA_OAUTH_SCOPE=",
	}
	switch {
	case strings.HasPrefix(name, "KAFKA_OAUTH"):
		return oauth
	case name == "KAFKA_SASL_MECHANISM", name == "KAFKA_SECURITY_PROTOCOL":
		return []string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=AWS_MSK_IAM"}
	case strings.HasPrefix(name, "KAFKA_SASL"):
		return []string{"KAFKA_SECURITY_PROTOCOL=SASL_SSL", "KAFKA_SASL_MECHANISM=PLAIN", "KAFKA_SASL_USERNAME=u", "KAFKA_SASL_PASSWORD=p"}
	case strings.HasPrefix(name, "KAFKA_TLS"):
		return []string{"KAFKA_SECURITY_PROTOCOL=SSL", "KAFKA_TLS_CERT_FILE=c", "KAFKA_TLS_KEY_FILE=k"}
	}
	return nil
}

// beside is company with changes on top.
func beside(name string, changes ...string) []string { return append(company(name), changes...) }

// TestEverySetting goes through the whole contract: what a setting takes, what
// it refuses, its twin, and its name misspelt.
func TestEverySetting(t *testing.T) {
	noLibpq(t)
	for _, s := range Settings() {
		name := strings.TrimPrefix(s.Name, Prefix)
		t.Run(name, func(t *testing.T) {
			if s.Later {
				onlyFault(t, environOf(name+"="+good(s)), name, "not in this version")
			} else {
				mustLoad(t, beside(name, name+"="+good(s))...)
				for value, part := range bad(s) {
					onlyFault(t, environOf(beside(name, name+"="+value)...), name, part)
				}
			}
			checkMisspelt(t, name)
			checkTwin(t, s, name)
			if !s.Required && name != "DATABASE_URL" && company(name) == nil {
				mustLoad(t, Prefix+name+"=") // empty is unset
			}
		})
	}
}

// bad are values that a setting refuses, each with a part of the fault.
func bad(s Setting) map[string]string {
	values := map[string]string{}
	switch s.Kind {
	case "duration":
		values["abc"], values["10"], values["10 s"] = "want a duration", "want a duration", "want a duration"
		values["-1s"], values["10MiB"] = "want a duration", "want a duration"
		values["999d"] = "want " + s.Min + " to " + s.Max
		if s.Min != "0s" {
			values["1ns"] = "want " + s.Min + " to " + s.Max
		}
		if !s.ZeroAllowed && s.Min != "0s" {
			values["0"] = "want " + s.Min + " to " + s.Max
		}
	case "size":
		values["abc"], values["10"], values["10s"] = "want a size", "want a size", "want a size"
		values["-1MiB"], values["1mib"], values["1M"] = "want a size", "want a size", "want a size"
		values["0"], values["4000TiB"] = "want "+s.Min+" to "+s.Max, "want "+s.Min+" to "+s.Max
	case "integer":
		values["abc"], values["1.5"], values["10MiB"], values["+1"] = "whole number", "whole number", "whole number", "whole number"
		values["0"], values["2000000001"] = "want "+s.Min+" to "+s.Max, "want "+s.Min+" to "+s.Max
	case "boolean":
		values["yes"], values["1"], values["TRUE"] = "want true or false", "want true or false", "want true or false"
	case "choice":
		values["abc"] = "want " + oneOf(s.Choices)
		for _, c := range s.Choices {
			if !slices.Contains(s.Built, c) {
				values[c] = c + " is not in this version; use " + oneOf(s.Built)
			}
		}
	}
	return values
}

// checkMisspelt: one letter too many, and the fault names the setting.
func checkMisspelt(t *testing.T, name string) {
	t.Helper()
	wrong := name + "X"
	onlyFault(t, environOf(wrong+"=abc"), wrong, "no such setting; the nearest is "+Prefix+name)
}

func checkTwin(t *testing.T, s Setting, name string) {
	t.Helper()
	twin := name + "_FILE"
	if !s.Twin {
		if slices.ContainsFunc(Settings(), func(o Setting) bool { return o.Name == Prefix+twin }) {
			return
		}
		onlyFault(t, environOf(twin+"=/nonexistent"), twin, "can't be read from a file")
		return
	}
	path := writeFile(t, good(s)+"\n")
	if s.Later {
		onlyFault(t, environOf(twin+"="+path), name, "not in this version")
		return
	}
	onlyFault(t, environOf(beside(name, name+"="+good(s), twin+"="+path)...), name, "set here and in "+Prefix+twin)
	mustLoad(t, beside(name, name+"=", twin+"="+path)...)
	onlyFault(t, environOf(beside(name, name+"=", twin+"=/nonexistent/value")...), twin, "no such file")
	onlyFault(t, environOf(beside(name, name+"=", twin+"="+writeFile(t, "\n"))...), twin, "is empty")
}

// TestNamesAreThoseOfTheLibrary: our reading of the tags and caarlos0/env's agree.
func TestNamesAreThoseOfTheLibrary(t *testing.T) {
	params, err := env.GetFieldParamsWithOptions(&settings{}, env.Options{Prefix: Prefix})
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]string{}
	for _, p := range params {
		theirs[p.Key] = p.DefaultValue
	}
	ours := map[string]string{}
	for _, s := range Settings() {
		ours[s.Name] = s.Default
	}
	if !maps.Equal(ours, theirs) {
		t.Errorf("ours %v\ntheirs %v", ours, theirs)
	}
	if len(ours) != len(Settings()) {
		t.Error("a name is used twice")
	}
}

// TestContractIsSound: ranges parse, defaults lie in them, no name can collide
// with Kubernetes, every setting says what it means.
func TestContractIsSound(t *testing.T) {
	for _, s := range Settings() {
		if serviceLink.MatchString(s.Name) || !regexp.MustCompile(`^OUTBOX_CDC_[A-Z_]+$`).MatchString(s.Name) {
			t.Errorf("%s: the name is not fit", s.Name)
		}
		if s.Doc == "" || s.Group == "" {
			t.Errorf("%s: no doc or group", s.Name)
		}
		if s.Kind == "choice" && (len(s.Choices) == 0 || s.Default != "" && !slices.Contains(s.Built, s.Default)) {
			t.Errorf("%s: choices %q, default %q", s.Name, s.Choices, s.Default)
		}
		p := &parser{settings: map[string]Setting{s.Name: s}, values: map[string]string{s.Name: s.Default}}
		name := strings.TrimPrefix(s.Name, Prefix)
		for _, v := range []string{s.Default, s.Min, s.Max} {
			p.values[s.Name] = v
			switch s.Kind {
			case "duration":
				p.duration(name)
			case "size":
				p.size(name)
			case "integer":
				p.integer(name)
			}
		}
		if len(p.faults) > 0 {
			t.Errorf("%v", p.faults)
		}
	}
}
