package module

import (
	"encoding/binary"
	"fmt"
)

// Numbers from the WebAssembly specification for the parts of a module that this package reads.
const (
	headerBytes   = 8 // length of the magic number and the version
	importSection = 2

	importedFunction = 0
	importedTable    = 1
	importedMemory   = 2
	importedGlobal   = 3
)

// imported returns the reasons why a module cannot run because of its imports. Each import that is not a function is a
// reason, because the server offers only functions. imported parses the binary itself, because the engine does not list
// these imports. The binary must be valid.
func imported(module []byte) []string {
	r := &sections{rest: module}
	r.skip(headerBytes)
	for len(r.rest) > 0 && !r.broken {
		id := r.byte()
		body := &sections{rest: r.bytes(r.number())}
		if id == importSection {
			return body.imports()
		}
	}
	return nil
}

// imports reads the import section and returns a reason for each import that is not a function.
func (r *sections) imports() []string {
	var faults []string
	for range r.number() {
		from, name := string(r.bytes(r.number())), string(r.bytes(r.number()))
		what := ""
		switch r.byte() {
		case importedFunction:
			r.number()
		case importedTable:
			what = "table"
			r.byte()
			r.limits()
		case importedMemory:
			what = "memory"
			r.limits()
		case importedGlobal:
			what = "global"
			r.skip(2)
		default:
			r.broken = true
		}
		if r.broken {
			break
		}
		if what != "" {
			faults = append(faults, fmt.Sprintf("it imports the %s %q of %q; a module must define its own.", what, cut(name), cut(from)))
		}
	}
	return faults
}

// sections is a reader of the sections of a binary. A read beyond the end sets broken and returns zero values.
type sections struct {
	rest   []byte
	broken bool
}

func (r *sections) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.broken, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *sections) skip(n uint64) { r.bytes(n) }

func (r *sections) byte() byte {
	if one := r.bytes(1); len(one) == 1 {
		return one[0]
	}
	return 0
}

// number reads an unsigned LEB128 number.
func (r *sections) number() uint64 {
	value, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.broken, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return value
}

// limits reads the size limits of a table or a memory.
func (r *sections) limits() {
	if hasMost := r.byte()&1 == 1; hasMost {
		r.number()
	}
	r.number()
}
