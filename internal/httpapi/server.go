package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of a request. Nothing that is served takes longer or is larger; the
// write limit leaves room for a 30-second profile.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = 60 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 16 << 10
	closeTimeout   = 2 * time.Second
)

// Config is what a server shows.
type Config struct {
	// Address is host:port.
	Address string
	// Status makes the picture that a request gets.
	Status func() Status
	// Metrics is gathered for /metrics.
	Metrics prometheus.Gatherer
	// Pprof serves /debug/pprof/ too.
	Pprof bool
	Log   *slog.Logger
}

// Server is the HTTP listener. It is up before the first connection to the
// database and outlives every session.
type Server struct {
	cfg      Config
	listener net.Listener
	http     *http.Server
}

// Listen opens the address. Nothing is served before Serve.
func Listen(ctx context.Context, cfg Config) (*Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("listen on OUTBOX_CDC_LISTEN_ADDRESS: %w; choose another address, or end the process that has it", err)
	}
	s := &Server{cfg: cfg, listener: l}
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Address is where the server listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve answers requests until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if s.http.Shutdown(limit) != nil {
			_ = s.http.Close()
		}
	})
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return nil
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /status", s.status)
	if s.cfg.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// healthz says whether the loops turn; it never depends on other systems.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if s.cfg.Status().Alive {
		word(w, http.StatusOK, "ok")
		return
	}
	word(w, http.StatusServiceUnavailable, "stuck")
}

// readyz says whether the connector does its work; the body is the state.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	st := s.cfg.Status()
	code := http.StatusOK
	if !st.Ready || !st.Alive {
		code = http.StatusServiceUnavailable
	}
	word(w, code, st.State)
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	body, err := json.MarshalIndent(s.cfg.Status(), "", "  ")
	if err != nil {
		s.cfg.Log.Error("make /status", "error", err)
		word(w, http.StatusInternalServerError, "error")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // the client may have gone
}

func word(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n")) // the client may have gone
}
