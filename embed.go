package main

import (
	"embed"
	"io/fs"
)

// dist is what `make studio` left. Without it there is a placeholder only, and the server says how to build the Studio:
// `go build` works without Node.
//
//go:embed all:web/dist
var dist embed.FS

// samples are the agents that the Studio offers to start from.
//
//go:embed all:samples
var samples embed.FS

// below is a folder of an embedded tree, as a tree of its own. The names are constants that the compiler has seen.
func below(tree embed.FS, dir string) fs.FS {
	sub, err := fs.Sub(tree, dir)
	if err != nil {
		panic(err)
	}
	return sub
}
