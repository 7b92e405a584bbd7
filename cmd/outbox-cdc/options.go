package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/outbox-cdc/outbox-cdc/internal/app"
	"github.com/outbox-cdc/outbox-cdc/internal/config"
)

// options are the flags that all commands take.
type options struct{ envFile string }

// load reads the environment, and everything that can be checked offline.
func (o *options) load() (*config.Config, error) {
	environ, err := o.environ()
	if err != nil {
		return nil, err
	}
	return config.Load(environ, app.Lint)
}

// environ is the environment with what the env file adds to it.
func (o *options) environ() ([]string, error) {
	environ := os.Environ()
	if o.envFile == "" {
		return environ, nil
	}
	file, err := config.ReadEnvFile(o.envFile)
	if err != nil {
		return nil, &usageError{err}
	}
	if err := exportLibpq(file); err != nil {
		return nil, err
	}
	return config.MergeEnv(environ, file), nil
}

// exportLibpq puts PG* variables of the file into the process's environment,
// where pgconn looks for them.
func exportLibpq(file []string) error {
	for _, kv := range file {
		name, value, _ := strings.Cut(kv, "=")
		if _, set := os.LookupEnv(name); set || !strings.HasPrefix(name, "PG") {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s from the env file: %w", name, err)
		}
	}
	return nil
}
