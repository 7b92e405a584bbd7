package kafkatest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"time"
)

const (
	keysFile      = "keys.json"
	tokenAudience = "kafka"
	tokenIssuer   = "test"
	keyName       = "only"
)

// writeKeys makes the key that signs tokens, and the JSON Web Key Set by which
// the broker checks them.
func (b *Broker) writeKeys() (err error) {
	if b.tokenKey, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return fmt.Errorf("make a key for tokens: %w", err)
	}
	keys, err := json.Marshal(map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "kid": keyName, "alg": "RS256", "use": "sig",
		"n": base64.RawURLEncoding.EncodeToString(b.tokenKey.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(b.tokenKey.E)).Bytes()),
	}}})
	if err != nil {
		return fmt.Errorf("write the key for tokens: %w", err)
	}
	return b.writeFiles(map[string][]byte{keysFile: keys})
}

// Token returns a token by which subject can log in with OAUTHBEARER until it
// expires; what has expired already is refused.
func (b *Broker) Token(subject string, expires time.Time) (string, error) {
	header, err := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": keyName})
	if err != nil {
		return "", fmt.Errorf("write a token: %w", err)
	}
	claims, err := json.Marshal(map[string]any{
		"sub": subject, "iss": tokenIssuer, "aud": tokenAudience, "scope": "kafka",
		"iat": min(time.Now().Unix(), expires.Unix()) - 1, "exp": expires.Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("write a token: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, b.tokenKey, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
