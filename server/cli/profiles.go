package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// profiles is the content of the user's file with servers. Commands can choose these servers by name.
type profiles struct {
	Current string             `yaml:"current,omitempty"` // name of the profile that is used if nothing else names a server
	Named   map[string]profile `yaml:"profiles"`
}

// profile is a named server. At most one of the fields that state its token is set.
type profile struct {
	Server    string `yaml:"server"`
	Workspace string `yaml:"workspace,omitempty"`
	Token     string `yaml:"token,omitempty"`
	TokenFile string `yaml:"tokenFile,omitempty"`
	TokenEnv  string `yaml:"tokenEnv,omitempty"`
}

// profilesPath returns the path of the user's file of profiles. If the environment names no home directory, it returns
// "".
func (p Process) profilesPath() string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // The specification of XDG_CONFIG_HOME requires that relative paths are ignored.
		return filepath.Join(dir, "atelier", "profiles.yaml")
	}
	if home := p.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "atelier", "profiles.yaml")
	}
	return ""
}

// maxProfiles is the maximum size in bytes of the file of profiles.
const maxProfiles = 1 << 20

// profiles reads the user's profiles. It refuses a file that other users may read or change, because the file decides
// which server receives a token.
func (p Process) profiles() (profiles, error) {
	path := p.profilesPath()
	if path == "" {
		return profiles{}, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return profiles{}, nil
	}
	if err != nil {
		return profiles{}, misusedf("read the profiles: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return profiles{}, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return profiles{}, misusedf("other users may read or change %s; run: chmod 600 %s", path, path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxProfiles+1))
	if err != nil {
		return profiles{}, misusedf("read the profiles: %w", err)
	}
	if len(text) > maxProfiles { // Refuse a large file, because writing back a truncated file would remove profiles.
		return profiles{}, misusedf("%s must have at most %d bytes", path, maxProfiles)
	}
	return parseProfiles(path, text)
}

func parseProfiles(path string, text []byte) (profiles, error) {
	var all profiles
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil && !errors.Is(err, io.EOF) {
		return profiles{}, misusedf("%s: %w", path, err)
	}
	for name, one := range all.Named {
		if _, err := addressOf(one.Server); err != nil {
			return profiles{}, misusedf("%s: profile %s: %w", path, name, err)
		}
	}
	return all, nil
}

// write replaces the user's file of profiles.
func (all profiles) write(p Process) error {
	path := p.profilesPath()
	if path == "" {
		return misusedf("profiles are stored in the home directory; set HOME or XDG_CONFIG_HOME")
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeWhole(path, bytes.NewReader(text)) // Only the user may read the file.
}

// named returns a profile by name.
func (all profiles) named(name string) (profile, error) {
	one, ok := all.Named[name]
	if !ok {
		return one, misusedf("no profile named %s; `atelier profile list` lists profiles", name)
	}
	return one, nil
}

// of returns a profile for the given server. If there are several, it prefers the current profile, and then a profile
// with a token.
func (all profiles) of(server string) (found profile, ok bool) {
	address, err := addressOf(server)
	if err != nil {
		return profile{}, false
	}
	best := -1
	for name, one := range all.Named {
		if known, err := addressOf(one.Server); err != nil || known != address {
			continue
		}
		rank := 0
		if one.source() != "none" {
			rank = 1
		}
		if name == all.Current {
			rank += 2
		}
		if rank > best || rank == best && one.source() < found.source() {
			found, best = one, rank
		}
	}
	return found, best >= 0
}

// source returns a text that describes where the token of a profile comes from.
func (o profile) source() string {
	switch {
	case o.Token != "":
		return "stored"
	case o.TokenFile != "":
		return "file:" + o.TokenFile
	case o.TokenEnv != "":
		return "env:" + o.TokenEnv
	}
	return "none"
}

// token reads the token of a profile. If the profile has none, it returns "".
func (o profile) token(p Process) (string, error) {
	switch {
	case o.Token != "":
		return o.Token, nil
	case o.TokenFile != "":
		text, err := os.ReadFile(o.TokenFile)
		if err != nil {
			return "", misusedf("read the token of the profile: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	case o.TokenEnv != "":
		if token := p.Getenv(o.TokenEnv); token != "" {
			return token, nil
		}
		return "", misusedf("the token of the profile is in %s, which is not set", o.TokenEnv)
	}
	return "", nil
}

// addressOf checks the address of a server and returns it in canonical form, so that addresses can be compared.
func addressOf(server string) (string, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "", fmt.Errorf("%q must be the address of a server, such as https://atelier.example.com", server)
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", fmt.Errorf("%q must have no user, query or fragment", server)
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		host = strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
	}
	return u.Scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/"), nil
}
