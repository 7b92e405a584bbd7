package config

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestDocumentationIsCurrent(t *testing.T) {
	var b bytes.Buffer
	if err := WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		t.Error("docs/configuration.md is out of date; run go generate ./internal/config")
	}
	for _, s := range Settings() {
		if !strings.Contains(b.String(), "| "+s.Name+" |") {
			t.Errorf("%s is not in the documentation", s.Name)
		}
	}
}

func TestMarkdownCells(t *testing.T) {
	s := Setting{Name: "X", Kind: "choice", Choices: []string{"a", "b"}, Built: []string{"a"}, Doc: "Say 'a|b' to the brokers' hosts ('x').", Twin: true, Secret: true, Shown: "it depends"}
	if got, want := cell(s.meaning()), "Say `a\\|b` to the brokers' hosts (`x`). `_FILE`. Secret: never printed. *In this version only `a`.*"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := s.values(); got != "`a` `b`" {
		t.Errorf("values %s", got)
	}
	for _, tc := range []struct {
		s    Setting
		want string
	}{{s, "it depends"}, {Setting{Required: true}, "**required**"}, {Setting{Default: "5s"}, "`5s`"}, {Setting{}, "none"}} {
		if got := tc.s.defaultText(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
	if err := WriteMarkdown(failing{}); err == nil {
		t.Error("a failed write is no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }
