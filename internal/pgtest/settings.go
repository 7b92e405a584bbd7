package pgtest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// superuser is the name of the role that initdb makes.
const superuser = "postgres"

// defaults are the settings of every server, before those of its Options. They
// go into postgresql.conf and not on the command line, so that ALTER SYSTEM can
// still change them.
func defaults() map[string]string {
	return map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "",
		"wal_level":               "logical",
		"fsync":                   "off",
		"max_wal_senders":         "20",
		"max_replication_slots":   "20",
		"max_connections":         "100",
		"shared_buffers":          "64MB",
		"log_line_prefix":         "%m [%p] %q%u@%d %a ",
		"log_timezone":            "UTC",
		"timezone":                "UTC",
	}
}

// writeSettings appends settings to postgresql.conf; the last mention of a name
// wins there.
func writeSettings(data string, settings map[string]string) (err error) {
	file, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("open the server's settings: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.WriteString(file, renderSettings(settings))
	return err
}

// renderSettings prints settings as postgresql.conf wants them, sorted by name.
func renderSettings(settings map[string]string) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(settings[name])
		text.WriteString(name + " = '" + value + "'\n")
	}
	return text.String()
}

// accessRules is the pg_hba.conf of a server: everybody may come from this
// machine, with a password where one is set.
func accessRules(password bool) string {
	method := "trust"
	if password {
		method = "scram-sha-256"
	}
	return "local all all " + method + "\nlocal replication all " + method +
		"\nhost all all 127.0.0.1/32 " + method + "\nhost replication all 127.0.0.1/32 " + method + "\n"
}

// portSetting is the one setting that is not known before each first start.
func portSetting(port int) map[string]string {
	return map[string]string{"port": strconv.Itoa(port)}
}
