package main

import (
	"embed"
	"io/fs"
)

// dist is the output of `make studio`. If the Studio was not built, it contains only a placeholder, so that `go build` works
// without Node. The server then explains how to build the Studio.
//
//go:embed all:web/dist
var dist embed.FS

// samples holds the example agents of the Studio.
//
//go:embed all:samples
var samples embed.FS

// below returns a folder of an embedded file tree as a separate tree. It panics for an invalid name, but all names are
// constants.
func below(tree embed.FS, dir string) fs.FS {
	sub, err := fs.Sub(tree, dir)
	if err != nil {
		panic(err)
	}
	return sub
}
