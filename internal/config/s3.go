package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// S3 configures the bucket that stores the files of large versions. Without an endpoint, these files are stored in the
// data directory.
type S3 struct {
	Endpoint   string // host:port
	TLS        bool
	Bucket     string
	Region     string
	AccessKey  string
	SecretKey  string
	CacheBytes int64
}

// s3Endpoint parses the URL of an S3 server.
func s3Endpoint(s *S3, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
		return errors.New("must be a URL without a path, for example https://s3.example.com")
	}
	s.Endpoint, s.TLS = u.Host, u.Scheme == "https"
	return nil
}

func s3Settings() []Setting {
	return []Setting{
		{Name: "s3-endpoint", Env: "ATELIER_S3_ENDPOINT", Form: "URL", Group: "S3",
			Help: "S3 server that stores the files of large versions, so that several servers can share them (default: the data directory). `atelier blobs move` copies existing files.",
			set:  func(c *Config, v string) error { return s3Endpoint(&c.S3, v) }},
		{Name: "s3-bucket", Env: "ATELIER_S3_BUCKET", Default: "code-agents", Form: "NAME", Group: "S3",
			Help: "Name of the bucket. Its objects have the keys code-blobs/AGENT-ID/VERSION/HASH.",
			set: func(c *Config, v string) error {
				if c.S3.Bucket = v; len(v) < 3 {
					return fmt.Errorf("must be the name of a bucket, with at least 3 characters")
				}
				return nil
			}},
		{Name: "s3-region", Env: "ATELIER_S3_REGION", Default: "us-east-1", Form: "NAME", Group: "S3",
			Help: "Region of the bucket.",
			set:  func(c *Config, v string) error { c.S3.Region = v; return nil }},
		{Name: "s3-access-key", Env: "ATELIER_S3_ACCESS_KEY", Form: "KEY", Group: "S3",
			Help: "Access key of the S3 server.",
			set:  func(c *Config, v string) error { c.S3.AccessKey = v; return nil }},
		{Name: "s3-secret-key", Env: "ATELIER_S3_SECRET_KEY", Form: "SECRET", Group: "S3", Secret: true,
			Help: "Secret key of the S3 server.",
			set:  func(c *Config, v string) error { c.S3.SecretKey = v; return nil }},
		{Name: "s3-cache-bytes", Env: "ATELIER_S3_CACHE_BYTES", Default: strconv.Itoa(1 << 30), Form: "BYTES", Group: "S3",
			Help: "Maximum size of the local cache of objects.",
			set:  number(0, 1<<40, func(c *Config) *int64 { return &c.S3.CacheBytes })},
	}
}
