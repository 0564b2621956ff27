// Command telltale prints the secret KEY in several encodings, on stderr and in its result, and crashes if its input says so.
// It does not use fmt and encoding/json, because they would double its size.
package main

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"strings"
)

func main() {
	key := os.Getenv("KEY")
	said := []string{key, strings.ToUpper(key), hex.EncodeToString([]byte(key))}
	for _, pad := range []string{"", "a", "aa"} {
		said = append(said, base64.StdEncoding.EncodeToString([]byte(pad+key)), base64.RawURLEncoding.EncodeToString([]byte(pad+key)))
	}
	_, _ = os.Stderr.WriteString(strings.Join(said, "\n"))
	input, _ := io.ReadAll(os.Stdin)
	if strings.Contains(string(input), `"fail":true`) {
		panic("cannot log in with " + key)
	}
	_, _ = os.Stdout.WriteString(`{"key":"` + base64.StdEncoding.EncodeToString([]byte(key)) + `","hex":"` + hex.EncodeToString([]byte(key)) + `"}`)
}
