package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// floors is what nothing on this machine can be faster than.
type floors struct {
	http, fsync, python, bash time.Duration
}

// measureFloors takes the interpreters that the server says it uses: a python3 on PATH may be a shim that starts another.
func measureFloors(ctx context.Context, span time.Duration, s *server) (floors, error) {
	var f floors
	interpreters, err := s.interpreters(ctx)
	if err != nil {
		return f, err
	}
	if f.http, err = loopback(ctx, span/3); err != nil {
		return f, err
	}
	if f.fsync, err = durableWrite(ctx, span/3); err != nil {
		return f, err
	}
	f.python = command(ctx, span/3, interpreters["python"], "-I", "-S", "-c", "pass")
	f.bash = command(ctx, span/3, interpreters["bash"], "-c", ":")
	return f, nil
}

func (f floors) rows() []string {
	row := func(name string, d time.Duration) string { return fmt.Sprintf("  %-34s %8.2f ms", name, ms(d)) }
	return []string{
		row("HTTP over loopback", f.http),
		row("append of 1 KiB and fsync", f.fsync),
		row("python3 -I -S -c pass", f.python),
		row("bash -c :", f.bash),
	}
}

// loopback asks a handler that does nothing but read a body and answer one of the usual size.
func loopback(ctx context.Context, span time.Duration) (time.Duration, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	answer := []byte(`{"answer":"` + strings.Repeat("x", 1200) + `"}`)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	url := "http://" + listener.Addr().String()
	got := measure(ctx, 1, span, func(ctx context.Context, _ int) error {
		_, err := post(ctx, url, "", []byte(`{"version":"1.0.0","input":{"a":1,"b":2}}`))
		return err
	})
	return got.at(0.5), got.fault
}

func durableWrite(ctx context.Context, span time.Duration) (time.Duration, error) {
	file, err := os.CreateTemp("", "atelier-bench")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	page := make([]byte, 1024)
	got := measure(ctx, 1, span, func(context.Context, int) error {
		if _, err := file.Write(page); err != nil {
			return err
		}
		return file.Sync()
	})
	return got.at(0.5), got.fault
}

// command measures a program from start to end. One that is not here measures as zero.
func command(ctx context.Context, span time.Duration, name string, args ...string) time.Duration {
	return measure(ctx, 1, span, func(ctx context.Context, _ int) error {
		return exec.CommandContext(ctx, name, args...).Run()
	}).at(0.5)
}
