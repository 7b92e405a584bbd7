package main

import (
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childEnv makes this test binary play a connector; its value says which.
const childEnv = "DEMO_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		os.Exit(playConnector(role, os.Getenv("DEMO_TEST_ADDRESS")))
	}
	goleak.VerifyTestMain(m)
}

// playConnector is ready at once, and ends as its role says.
func playConnector(role, address string) int {
	if role == "ends" {
		_, _ = os.Stderr.WriteString("no slot\n")
		return 3
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	server := &http.Server{Addr: address, Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/quit", func(http.ResponseWriter, *http.Request) { os.Exit(1) })
	server.Handler = mux
	go func() { _ = server.ListenAndServe() }()
	<-asked
	if role == "complains" {
		return 4
	}
	return 0
}
