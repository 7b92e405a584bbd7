package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	msk "github.com/twmb/franz-go/pkg/sasl/aws"
)

// awsChain gives credentials as every AWS program finds them: environment,
// shared files, web identity, container, instance. It keeps them until they are
// about to expire.
type awsChain struct {
	mu    sync.Mutex // guards found
	found aws.CredentialsProvider
}

var errNoCredentials = errors.New("no AWS credentials were found")

func (c *awsChain) credentials(ctx context.Context) (msk.Auth, error) {
	provider, err := c.provider(ctx)
	if err != nil {
		return msk.Auth{}, err
	}
	got, err := provider.Retrieve(ctx)
	if err != nil {
		return msk.Auth{}, fmt.Errorf("%w: %w", errNoCredentials, err)
	}
	return msk.Auth{AccessKey: got.AccessKeyID, SecretKey: got.SecretAccessKey, SessionToken: got.SessionToken, UserAgent: "outbox-cdc"}, nil
}

// provider reads the chain's settings once they can be read.
func (c *awsChain) provider(ctx context.Context) (aws.CredentialsProvider, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil {
		return c.found, nil
	}
	cfg, err := awsconfig.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("read AWS settings: %w", err)
	}
	if cfg.Credentials == nil {
		return nil, errNoCredentials
	}
	c.found = cfg.Credentials
	return c.found, nil
}
