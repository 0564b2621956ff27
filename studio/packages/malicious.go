package packages

import (
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

// malicious lists releases that contained malware according to public reports. It maps a package to versions. An empty
// list means all versions, because the package only imitates the name of another one. The list cannot be complete;
// operators can add entries with --block-packages.
var malicious = map[string]string{
	// These releases were made by a person who took over the account of an author, or by an author who sabotaged the
	// package.
	"npm:event-stream": "3.3.6", "npm:flatmap-stream": "", "npm:eslint-scope": "3.7.2", "npm:eslint-config-eslint": "5.0.2",
	"npm:ua-parser-js": "0.7.29 0.8.0 1.0.0", "npm:coa": "2.0.3 2.0.4 2.1.1 2.1.3 3.0.1 3.1.3", "npm:rc": "1.2.9 1.3.9 2.3.9",
	"npm:colors": "1.4.1 1.4.2 1.4.44-liberty-2", "npm:faker": "6.6.6", "npm:node-ipc": "10.1.1 10.1.2 11.0.0", "npm:peacenotwar": "",
	"npm:@solana/web3.js": "1.95.6 1.95.7", "npm:@lottiefiles/lottie-player": "2.0.5 2.0.6 2.0.7", "npm:xrpl": "2.14.2 4.2.1 4.2.2 4.2.3 4.2.4",
	"npm:rand-user-agent": "1.0.110 2.0.83 2.0.84", "npm:nx": "20.9.0 20.10.0 20.11.0 20.12.0 21.5.0 21.6.0 21.7.0 21.8.0",
	"npm:chalk": "5.6.1", "npm:debug": "4.4.2", "npm:ansi-styles": "6.2.2", "npm:strip-ansi": "7.1.1", "npm:ansi-regex": "6.2.1",
	"npm:wrap-ansi": "9.0.1", "npm:slice-ansi": "7.1.1", "npm:supports-color": "10.2.1", "npm:supports-hyperlinks": "4.1.1",
	"npm:color-convert": "3.1.1", "npm:color-name": "2.0.1", "npm:color-string": "2.1.1", "npm:is-arrayish": "0.3.3", "npm:error-ex": "1.3.3",
	"npm:simple-swizzle": "0.2.3", "npm:has-ansi": "6.0.1", "npm:chalk-template": "1.1.1", "npm:backslash": "0.2.1", "npm:@ctrl/tinycolor": "4.1.1 4.1.2",
	"pypi:ultralytics": "8.3.41 8.3.42 8.3.45 8.3.46", "pypi:num2words": "0.5.15 0.5.16", "pypi:ctx": "0.1.2 0.2 0.2.2 0.2.6",

	// These names imitate the names of other packages.
	"npm:crossenv": "", "npm:cross-env.js": "", "npm:mongose": "", "npm:babelcli": "", "npm:gruntcli": "", "npm:nodesass": "", "npm:noderequest": "", "npm:ffmepg": "",
	"pypi:jeilyfish": "", "pypi:python3-dateutil": "", "pypi:colourama": "", "pypi:ssh-decorate": "", "pypi:acqusition": "", "pypi:apidev-coop": "", "pypi:setup-tools": "",
	"pypi:django-server": "", "pypi:urlib3": "",
}

// isMalicious reports whether the list of malicious releases contains a package.
func isMalicious(ecosystem runtimes.Ecosystem, p runtimes.LockedPackage) bool {
	versions, listed := malicious[string(ecosystem)+":"+strings.ToLower(p.Name)]
	return listed && (versions == "" || slices.Contains(strings.Fields(versions), p.Version))
}
