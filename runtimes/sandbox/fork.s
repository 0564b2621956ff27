// The file allows functions without a body in this package: those of the runtime that fork.go names.
