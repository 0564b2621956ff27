package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/atelier-run/atelier/internal/fault"
)

// Cost sets the cost of hashing a password with argon2id. Each stored hash contains its own cost, so the setting can be
// raised later.
type Cost struct {
	Time    uint32
	Memory  uint32 // KiB
	Threads uint8
}

// rfc9106 returns the second option that RFC 9106 recommends, which is for limited memory.
func rfc9106() Cost { return Cost{Time: 3, Memory: 64 << 10, Threads: 4} }

const (
	saltBytes = 16
	keyBytes  = 32
)

// hashesAtOnce is the maximum number of passwords that are hashed at the same time. It limits the memory that sign-ins
// use.
const hashesAtOnce = 2

const (
	leastPassword = 12
	mostPassword  = 1024
)

// checkPassword checks a new password. field is the JSON pointer to the password in the request.
func checkPassword(field, name, password string) error {
	switch {
	case len(password) < leastPassword || len(password) > mostPassword || !utf8.ValidString(password):
		return fault.Invalid(field, "must have %d to %d bytes.", leastPassword, mostPassword)
	case strings.EqualFold(password, name):
		return fault.Invalid(field, "must not be the sign-in name.")
	}
	return nil
}

// hashPassword returns the argon2id hash of a password in PHC format, with a new salt.
func (s *Service) hashPassword(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	rand.Read(salt) // Read never fails: crypto/rand ends the process on an error.
	key, err := s.derive(ctx, password, salt, s.cost)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, s.cost.Memory, s.cost.Time, s.cost.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), err
}

// fits reports whether a password matches a stored hash. Without a stored hash it does the same work and returns false,
// so that the duration does not reveal whether a name exists.
func (s *Service) fits(ctx context.Context, stored, password string) (bool, error) {
	if len(password) > mostPassword {
		password = ""
	}
	if stored == "" {
		_, err := s.derive(ctx, password, make([]byte, saltBytes), s.cost)
		return false, err
	}
	var version int
	var cost Cost
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("a stored password is not an argon2id hash")
	}
	_, versionErr := fmt.Sscanf(parts[2], "v=%d", &version)
	_, costErr := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.Memory, &cost.Time, &cost.Threads)
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	want, keyErr := base64.RawStdEncoding.DecodeString(parts[5])
	if versionErr != nil || costErr != nil || saltErr != nil || keyErr != nil || version != argon2.Version || len(want) != keyBytes {
		return false, fmt.Errorf("a stored password cannot be read")
	}
	key, err := s.derive(ctx, password, salt, cost)
	return err == nil && subtle.ConstantTimeCompare(key, want) == 1, err
}

// derive computes the hash of a password. It first waits for a free slot.
func (s *Service) derive(ctx context.Context, password string, salt []byte, cost Cost) ([]byte, error) {
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.argon2([]byte(password), salt, cost.Time, cost.Memory, cost.Threads, keyBytes), nil
}
