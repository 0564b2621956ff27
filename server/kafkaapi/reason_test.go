package kafkaapi

import (
	"errors"
	"testing"
)

// TestWithoutAddresses checks that the reason in /health, which is readable without a credential, contains no hosts.
func TestWithoutAddresses(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"no broker answers: unable to dial: dial tcp 10.0.0.5:9092: connect: connection refused":       "no broker answers: unable to dial: dial tcp …: connect: connection refused",
		"dial tcp: lookup kafka.corp.example on 10.0.0.2:53: no such host":                             "dial tcp: lookup … on …: no such host",
		"dial tcp [2001:db8::1]:9092: i/o timeout":                                                     "dial tcp …: i/o timeout",
		"SASL_AUTHENTICATION_FAILED: SASL Authentication failed.":                                      "SASL_AUTHENTICATION_FAILED: SASL Authentication failed.",
		"dial tcp [fe80::1%eth0]:9092: i/o timeout":                                                    "dial tcp …: i/o timeout",
		"tls: failed to verify certificate: x509: certificate is valid for a.corp.example, not b.corp": "tls: failed to verify certificate: x509: certificate is valid for …",
		"x509: certificate is not valid for any names, but wanted to match kafka.corp.example":         "x509: certificate is not valid for …",
		"x509: cannot validate certificate for 10.0.0.5 because it doesn't contain any IP SANs":        "x509: cannot validate certificate for …",
		"x509: certificate signed by unknown authority":                                                "x509: certificate signed by unknown authority",
		"unable to open connection to broker: dial tcp kafka-1.corp.example:9092: connect: refused":    "unable to open connection to broker: dial tcp …: connect: refused",
	} {
		if got := withoutAddresses(errors.New(given)); got != want {
			t.Errorf("%q gives %q", given, got)
		}
	}
}
