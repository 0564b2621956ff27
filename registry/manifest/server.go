package manifest

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// ServerSchema is the URL of the JSON Schema for server.json documents.
const ServerSchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

// These constants are the limits of the MCP registry, in characters unless stated otherwise.
const (
	mostServerName  = 200
	mostServerTitle = 100
	mostServerText  = 100
	mostServerMeta  = 4096 // bytes of the part that the publisher may fill
)

// Server is the server.json document with which the MCP registry describes an MCP server.
type Server struct {
	Schema      string         `json:"$schema"`
	Name        string         `json:"name" doc:"Reversed host name, and the name of the tools."`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description"`
	Version     string         `json:"version"`
	Remotes     []ServerRemote `json:"remotes"`
	Meta        ServerMeta     `json:"_meta"`
}

// ServerRemote is an address of a server.
type ServerRemote struct {
	Type    string         `json:"type" enum:"streamable-http"`
	URL     string         `json:"url" format:"uri"`
	Headers []ServerHeader `json:"headers"`
}

// ServerHeader is a request header. The client must ask the user for its value.
type ServerHeader struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	IsRequired  bool   `json:"isRequired"`
	IsSecret    bool   `json:"isSecret"`
}

// ServerMeta holds the part of server.json that the publisher may fill: the versions that the address offers.
type ServerMeta struct {
	Publisher ServerTools `json:"io.modelcontextprotocol.registry/publisher-provided"`
}

// ServerTools lists the versions that an address offers.
type ServerTools struct {
	Tools   []ServerTool `json:"tools"`
	Omitted int          `json:"omitted,omitempty" doc:"Number of versions that are omitted, because the registry limits this part to 4 KiB. The MCP address itself lists all."`
}

// ServerTool is one version with its digest.
type ServerTool struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
}

// Offer describes the tools that an MCP address offers. Base is the public URL of the server, and Path is the path of
// the tools below it.
type Offer struct {
	Base, Path, Name, Title, Description, Version string
	Tools                                         []ServerTool
	SignIn                                        bool // the token is optional, because people can sign in at an identity provider
}

// ServerOf returns the server.json of an offer. It shortens texts to the limits of the registry.
func ServerOf(o Offer) Server {
	return Server{
		Schema: ServerSchema, Name: namespace(o.Base) + "/" + shortened(o.Name, mostServerName/2), Title: shortened(o.Title, mostServerTitle),
		Description: shortened(o.Description, mostServerText), Version: o.Version,
		Remotes: []ServerRemote{{Type: "streamable-http", URL: o.Base + (&url.URL{Path: o.Path}).EscapedPath(), Headers: []ServerHeader{{
			Name: "Authorization", Description: "Bearer, a space and a token with the scope run", IsRequired: !o.SignIn, IsSecret: true,
		}}}},
		Meta: ServerMeta{Publisher: listed(o.Tools)},
	}
}

// listed returns as many tools as fit into the registry's limit, and the number of omitted tools.
func listed(tools []ServerTool) ServerTools {
	size := len(`{"tools":[],"omitted":1000000}`)
	for n, tool := range tools {
		size += len(`{"reference":"","digest":""},`) + len(tool.Reference) + len(tool.Digest) // names and digests contain no characters that JSON escapes
		if size > mostServerMeta {
			return ServerTools{Tools: tools[:n], Omitted: len(tools) - n}
		}
	}
	return ServerTools{Tools: tools}
}

// namespace returns the reversed host name of an address. The registry allows the owner of a domain to publish under
// this name.
func namespace(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "localhost"
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return strings.ReplaceAll(addr.String(), ":", "-")
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	name := strings.Join(labels, ".")
	return name[:min(len(name), mostServerName/2-1)]
}

// shortened returns a text in one line of at most most characters. A shortened text ends in ….
func shortened(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
