package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Approvals configures the webhook about requests for approval, and how long the server stores requests.
type Approvals struct {
	Webhook string   // URL of the webhook; "" for no webhook
	Secrets [][]byte // secrets that sign the webhook; the webhook needs at least one
	Retry   time.Duration
	Keep    time.Duration // how long ended requests are stored; 0 means forever
}

func approvalSettings() []Setting {
	return []Setting{
		{Name: "approval-webhook", Env: "ATELIER_APPROVAL_WEBHOOK", Form: "URL", Group: "Approvals", Secret: true, // the path may contain a key, so messages do not show it
			Help: "URL that receives signed webhooks (default: none). The server sends one when a request for approval is created or ends, and for each warning of a budget. Redirects are not followed. A receiver on a private network must be given by its IP address. Links in webhooks begin with --public-url.",
			set:  func(c *Config, v string) (err error) { c.Approvals.Webhook, err = webhookURL(v); return err }},
		{Name: "approval-webhook-secret", Env: "ATELIER_APPROVAL_WEBHOOK_SECRET", Form: "SECRET,…", Group: "Approvals", Secret: true,
			Help: "Secrets that sign webhooks: whsec_ followed by 24 to 64 bytes in base64. Each webhook has a signature for every secret, so that the receiver can change to a new one.",
			set:  func(c *Config, v string) (err error) { c.Approvals.Secrets, err = webhookSecrets(v); return err }},
		{Name: "approval-webhook-retry", Env: "ATELIER_APPROVAL_WEBHOOK_RETRY", Default: "5s", Form: "DURATION", Group: "Approvals",
			Help: "Delay before a failed webhook is sent again. Each further delay is four times as long, up to 6 hours. The server gives up after 10 attempts.",
			set:  func(c *Config, v string) (err error) { c.Approvals.Retry, err = firstRetry(v); return err }},
		{Name: "keep-approvals", Env: "ATELIER_KEEP_APPROVALS", Default: "2160h", Form: "DURATION", Group: "Approvals",
			Help: "Time to keep webhooks and ended requests for approval. Approvals of publications and of all runs of a version are always kept, because they still apply. 0s keeps everything forever.",
			set:  func(c *Config, v string) (err error) { c.Approvals.Keep, err = span(v); return err }},
	}
}

func firstRetry(v string) (time.Duration, error) {
	const least = 10 * time.Millisecond
	d, err := duration(v)
	if err == nil && d < least {
		err = fmt.Errorf("must be a duration from %s to 1h, for example 5s", least)
	}
	return d, err
}

func webhookURL(v string) (string, error) {
	if v == "" {
		return "", nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" || u.User != nil {
		return "", errors.New("must be a URL without a user name and password, for example https://hooks.example.com/atelier")
	}
	host := u.Host
	if u.Port() == "" {
		host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	_, err = grants(host)
	return v, err
}

// webhookSecrets parses secrets in the format of the Standard Webhooks specification.
func webhookSecrets(v string) ([][]byte, error) {
	const least, most = 24, 64
	var all [][]byte
	for _, text := range list(v) {
		encoded, ok := strings.CutPrefix(text, "whsec_")
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(secret) < least || len(secret) > most {
			return nil, errors.New("must be whsec_ and 24 to 64 bytes in base64, for example the output of: echo whsec_$(head -c 32 /dev/urandom | base64)")
		}
		all = append(all, secret)
	}
	return all, nil
}
