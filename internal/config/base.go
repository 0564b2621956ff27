package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// basePath parses a base path. It accepts only paths that need no escaping, because the server writes them unchanged
// into URLs, cookies and pages.
func basePath(v string) (string, error) {
	path := strings.TrimSuffix(v, "/")
	if len(path) > 200 || path != "" && !regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`).MatchString(path) {
		return "", fmt.Errorf("must be a path of letters, digits, -, _, ~ and dots, for example /atelier")
	}
	return path, nil
}

// joinBase sets the path of the public URL and the base path to the same value. It returns an error if both are set and
// are different.
func joinBase(c *Config) error {
	u, err := url.Parse(c.PublicURL)
	switch {
	case err != nil || c.PublicURL == "":
		return nil
	case u.Path == "":
		c.PublicURL += c.BasePath
		return nil
	case c.BasePath != "" && c.BasePath != u.Path:
		return fmt.Errorf("is %s, but the path of --public-url is %s; set only one of them, or the same path in both", c.BasePath, u.Path)
	}
	if c.BasePath, err = basePath(u.Path); err != nil {
		return fmt.Errorf("is taken from --public-url (%s) and %w", u.Path, err)
	}
	return nil
}
