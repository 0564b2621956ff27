package remote

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/runtimes"
)

// File is the path of the file in which a program names its service. It is a file of the version, so the version's
// digest includes it.
const File = "remote.json"

// maxFile is the maximum size of File in bytes. maxText is the maximum size of each string in it.
const (
	maxFile = 16 << 10
	maxText = 2000
)

// Protocol is the protocol with which a service is called.
type Protocol string

// Protocols of services. OpenAPI is a single HTTP operation with the same request and answer as POST /api/v1/execute of
// Atelier.
const (
	Atelier Protocol = "atelier"
	MCP     Protocol = "mcp"
	OpenAPI Protocol = "openapi"
)

// Service is a service that executes programs.
type Service struct {
	URL      string   `json:"url"` // URL of the server (Atelier), of the endpoint (MCP) or of the operation (OpenAPI)
	Protocol Protocol `json:"protocol"`
	Tool     string   `json:"tool,omitempty"` // name of the MCP tool that executes programs; only for MCP
	// Runtime is the runtime that the service uses; "" lets the service choose.
	Runtime runtimes.Name `json:"runtime,omitempty"`
	// Idempotent declares that the service executes a program only once for each Idempotency-Key, so that a call can be
	// repeated. It has no effect for the protocol Atelier, which is always idempotent.
	Idempotent bool `json:"idempotent,omitempty"`

	target hostpattern.Target
}

// Target is the host and port of the service.
func (s Service) Target() hostpattern.Target { return s.target }

// Read reads the service of a program from its files. Its errors contain a JSON pointer to the file.
func Read[F ~[]byte](files map[string]F) (Service, error) {
	var s Service
	const pointer = "/files/" + File
	data, ok := files[File]
	if !ok {
		return s, fault.Invalid("/files", `must have the file %s for the runtime remote, such as {"url": "https://atelier.example.com", "protocol": "atelier"}.`, File)
	}
	if len(data) > maxFile {
		return s, fault.Invalid(pointer, "must have at most 16 KiB.")
	}
	if err := jcs.Check(data, jcs.Limits{Depth: 4}); err != nil {
		return s, fault.Invalid(pointer, "must be JSON: %s.", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return s, fault.Invalid(pointer, "must be an object with url, protocol, tool, runtime and idempotent: %s.", strings.TrimPrefix(err.Error(), "json: "))
	}
	if problem := s.check(); problem != "" {
		return s, fault.Invalid(pointer, "%s", problem)
	}
	return s, nil
}

// check returns the reason why a service is not valid, as a predicate of the file, or "" if it is valid.
func (s *Service) check() string {
	switch s.Protocol {
	case Atelier, OpenAPI:
		if s.Tool != "" {
			return "must not have the field tool, which only the protocol mcp uses."
		}
	case MCP:
		if s.Tool == "" {
			return "must have the field tool, with the tool that executes programs, for the protocol mcp."
		}
	default:
		return "must have the protocol atelier, mcp or openapi."
	}
	if s.Protocol == Atelier && s.Idempotent {
		return "must not have the field idempotent, because Atelier servers are always idempotent."
	}
	if s.Runtime == runtimes.RemoteEngine {
		return "must have a runtime other than remote, which would only forward the program."
	}
	if len(s.URL) > maxText || len(s.Tool) > maxText || len(s.Runtime) > maxText {
		return "must have strings of at most 2000 characters."
	}
	address, err := url.Parse(s.URL)
	switch {
	case err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "":
		return "must have a url that begins with http:// or https:// and contains a host."
	case address.User != nil:
		return "must have a url without a user name or password; bind a secret to the host instead."
	case address.Fragment != "":
		return "must have a url without a fragment."
	case s.Protocol == Atelier && address.RawQuery != "":
		return "must have a url without a query for the protocol atelier."
	}
	port := uint16(80)
	if address.Scheme == "https" {
		port = 443
	}
	if s.target, err = hostpattern.ParseHostPort(address.Host, port); err != nil {
		return "must have a url with a valid host: " + err.Error() + "."
	}
	return ""
}
