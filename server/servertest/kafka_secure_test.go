package servertest_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/atelier-run/atelier/server/servertest"
)

// writeCertificate writes a certificate for this machine, and a file with its key and the certificate, both in PEM.
func writeCertificate(t *testing.T, dir string) (certificate, both string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
	certificate, both = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "server.pem")
	for path, content := range map[string][]byte{certificate: text, both: append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), text...)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, both
}

// A broker with TLS accepts each SASL mechanism. With a wrong password, the server must report that it is not
// connected, and the reason.
func TestKafka_TLSAndSASL(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	dir := t.TempDir()
	certificate, both := writeCertificate(t, dir)
	script := filepath.Join(servertest.Root(t), "scripts", "kafka.sh")
	start := exec.Command(script, "start", filepath.Join(dir, "kafka"))
	start.Env = append(os.Environ(), "SECURE="+both)
	var failure bytes.Buffer
	start.Stderr = &failure
	text, err := start.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, failure.Bytes())
	}
	t.Cleanup(func() {
		if text, err := exec.Command(script, "stop", filepath.Join(dir, "kafka")).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	})
	brokers := strings.Fields(string(text))
	if len(brokers) != 2 {
		t.Fatalf("the script printed %s", text)
	}
	k.connect(t, brokers[0])
	k.brokers = brokers[1]
	serve := func(mechanism, password string) *servertest.Process {
		p := servertest.SpawnWith(t, t.TempDir(), []string{"ATELIER_KAFKA_PASSWORD=" + password}, append(k.flags(), "--kafka-tls", "--kafka-ca", certificate, "--kafka-sasl", mechanism, "--kafka-user", "atelier")...)
		p.Token = kafkaToken
		return p
	}
	for n, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		p := serve(mechanism, "test-only-password")
		p.Create(t, kafkaEcho)
		p.Publish(t, "echo", "1.0.0")
		k.send(t, &kgo.Record{Value: bareRecord(toolRequest(mechanism, "s", "echo", map[string]any{})).Value})
		k.await(t, mechanism+": the result comes", func() bool { return len(k.seen["results"]) > n })
		if got := string(k.seen["results"][n].Value); !strings.Contains(got, `"request_id":"`+mechanism+`"`) || !strings.Contains(got, `"status":"success"`) {
			t.Errorf("%s: %s", mechanism, got)
		}
		p.Signal(t, os.Interrupt)
		p.Exit()
	}
	p := serve("scram-sha-512", "another-password")
	servertest.Eventually(t, "the reason is shown", func() bool {
		var health struct {
			Kafka struct {
				Connected bool
				Reason    string
			}
		}
		p.Want(t, 200, "GET", "/health", nil).Into(t, &health)
		return !health.Kafka.Connected && strings.Contains(strings.ToLower(health.Kafka.Reason), "auth")
	})
}
