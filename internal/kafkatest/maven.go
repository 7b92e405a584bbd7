package kafkatest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
	"golang.org/x/sync/errgroup"

	"github.com/outbox-cdc/outbox-cdc/internal/testserver"
)

//go:embed pom.xml
var pom []byte

// errNoMaven means that there is no Maven that runs.
var errNoMaven = errors.New("mvn is not there")

// byMaven has Maven fetch the jars, so that the user's own settings, mirrors
// and repository are honoured.
func byMaven(ctx context.Context, dir string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil || exec.CommandContext(ctx, mvn, "-v").Run() != nil {
		return errNoMaven
	}
	project := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(project, pom, 0o600); err != nil {
		return fmt.Errorf("write the pom: %w", err)
	}
	output, err := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", project, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-Dmdep.useRepositoryLayout=true", "-DoutputDirectory="+dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fetch Kafka %s with Maven: %w\n%s", version, err, testserver.Tail(string(output), 5))
	}
	return nil
}

// download fetches the jars without Maven, from where the PostgreSQL of the
// tests comes from as well, which is a repository of Maven's layout.
func download(ctx context.Context, dir string) error {
	return downloadFrom(ctx, reflect.ValueOf(embeddedpostgres.DefaultConfig()).FieldByName("binaryRepositoryURL").String(), dir)
}

func downloadFrom(ctx context.Context, repository, dir string) error {
	const limit = 10 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for _, j := range jars() {
		group.Go(func() error {
			err := get(ctx, transport, repository+"/"+j.path, filepath.Join(dir, filepath.FromSlash(j.path)))
			if err != nil {
				return fmt.Errorf("fetch %s: %w: is the network reachable?", j.path, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func get(ctx context.Context, transport http.RoundTripper, from, to string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer is %s", response.Status)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, response.Body)
	return errors.Join(err, file.Close())
}
