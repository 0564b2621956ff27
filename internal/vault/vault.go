// Package vault encrypts small texts for storage in a database. It uses AES-256-GCM, and the keys are stored outside
// the database. It binds each text to its context. If a ciphertext is moved to another row of the database, it cannot
// be decrypted there.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	keyBytes = 32
	idLength = 16
)

// key is one encryption key. Its ID is derived from the key and stored with each encrypted text, so that a decryption
// with the wrong key is detected.
type key struct {
	id   string
	text string // the key as it is written in the file
	aead cipher.AEAD
}

// Keys holds the keys of a server. The first key encrypts, and all keys can decrypt. The zero value contains no keys.
type Keys struct{ all []key }

// ErrUnknownKey is returned if a text was encrypted with a key that Keys does not contain.
var ErrUnknownKey = errors.New("it was encrypted with another key")

// Parse parses keys, one per line or separated by commas. Each key has 32 bytes and is written in base64 or hex. Lines
// that start with # are comments.
func Parse(text string) (Keys, error) {
	var keys Keys
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for part := range strings.SplitSeq(line, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			made, err := parse(part)
			if err != nil {
				return Keys{}, err
			}
			keys.all = append(keys.all, made)
		}
	}
	if len(keys.all) == 0 {
		return Keys{}, errors.New("has no key; create one with: openssl rand -base64 32")
	}
	return keys, nil
}

func parse(text string) (key, error) {
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.URLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if raw, err := decode(text); err == nil && len(raw) == keyBytes {
			return of(raw)
		}
	}
	return key{}, fmt.Errorf("must be %d bytes in base64 or hex; create a key with: openssl rand -base64 32", keyBytes)
}

func of(raw []byte) (key, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return key{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	sum := sha256.Sum256(append([]byte("atelier secrets key\x00"), raw...))
	return key{id: hex.EncodeToString(sum[:])[:idLength], text: base64.StdEncoding.EncodeToString(raw), aead: aead}, err
}

// Fresh returns the keys with a new random key at the beginning. The new key encrypts from then on.
func (k Keys) Fresh() (Keys, error) {
	raw := make([]byte, keyBytes)
	rand.Read(raw) // crypto/rand never returns an error; it ends the process instead
	made, err := of(raw)
	return Keys{append([]key{made}, k.all...)}, err
}

// First returns Keys with only the first key, which encrypts.
func (k Keys) First() Keys { return Keys{k.all[:min(1, len(k.all))]} }

// ID returns the ID of the first key, which encrypts.
func (k Keys) ID() string {
	if len(k.all) == 0 {
		return ""
	}
	return k.all[0].id
}

// Has reports whether the keys include the key with the given ID.
func (k Keys) Has(id string) bool {
	for _, one := range k.all {
		if one.id == id {
			return true
		}
	}
	return false
}

// String returns a placeholder, so that logs never contain the keys.
func (k Keys) String() string { return fmt.Sprintf("%d keys", len(k.all)) }

// GoString returns a placeholder, so that logs never contain the keys.
func (k Keys) GoString() string { return k.String() }

// Seal encrypts a text and binds it to its context. about lists the parts of the context, such as the names of the
// workspace and the secret. Open needs the same parts in the same order.
func (k Keys) Seal(text []byte, about ...string) (id string, sealed []byte, err error) {
	if len(k.all) == 0 {
		return "", nil, errors.New("no encryption key is available")
	}
	first := k.all[0]
	return first.id, first.aead.Seal(nil, nil, text, associatedData(about)), nil //nolint:gosec // the AEAD generates a random nonce and writes it before the ciphertext
}

// Open decrypts a text that Seal has encrypted, with the key of the given ID. It returns ErrUnknownKey if the key is
// missing. It returns another error if the text or its context is different.
func (k Keys) Open(id string, sealed []byte, about ...string) ([]byte, error) {
	for _, one := range k.all {
		if one.id != id {
			continue
		}
		text, err := one.aead.Open(nil, nil, sealed, associatedData(about))
		if err != nil {
			return nil, errors.New("it was changed, or was encrypted for another row")
		}
		return text, nil
	}
	return nil, ErrUnknownKey
}

// associatedData length-prefixes each part, so that two lists never encode to the same bytes.
func associatedData(about []string) []byte {
	all := []byte("atelier 1")
	for _, word := range about {
		all = binary.AppendUvarint(all, uint64(len(word)))
		all = append(all, word...)
	}
	return all
}
