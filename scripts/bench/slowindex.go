package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	lineBytes = 10_000_000 / 8        // total bytes per second of all answers
	lineDelay = 30 * time.Millisecond // delay of each answer
	lineChunk = 16 << 10
)

// slowIndex serves a package index with the speed of a line of 10 Mbit/s and 30 ms delay. It measures the download of
// wheels.
type slowIndex struct {
	*httptest.Server

	mu    sync.Mutex
	free  time.Time // time at which the line has sent all earlier bytes
	first time.Time // time of the request for the first wheel
	last  time.Time // time at which the last wheel was sent
}

func newSlowIndex(of string) (*slowIndex, error) {
	target, err := url.Parse(of)
	if err != nil {
		return nil, err
	}
	s := &slowIndex{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		time.Sleep(lineDelay)
		proxy.ServeHTTP(&slowWriter{w, s}, r)
		if strings.HasSuffix(r.URL.Path, ".whl") {
			s.note(began)
		}
	}))
	return s, nil
}

// note records when the download of a wheel started and ended.
func (s *slowIndex) note(began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first.IsZero() || began.Before(s.first) {
		s.first = began
	}
	s.last = time.Now()
}

// taken returns the time from the request for the first wheel until the end of the last wheel. It also returns the time
// since that request. It then resets both times.
func (s *slowIndex) taken() (download, all time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	download, all = s.last.Sub(s.first), time.Since(s.first)
	s.first, s.last = time.Time{}, time.Time{}
	return download, all
}

// slowWriter sends bytes at the speed of the line.
type slowWriter struct {
	http.ResponseWriter

	line *slowIndex
}

func (w *slowWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		size := min(len(p), lineChunk)
		w.line.await(size)
		var sent int
		sent, err = w.ResponseWriter.Write(p[:size])
		n, p = n+sent, p[size:]
	}
	return n, err
}

// await waits until the line has sent all earlier bytes and the given bytes.
func (s *slowIndex) await(size int) {
	s.mu.Lock()
	if now := time.Now(); s.free.Before(now) {
		s.free = now
	}
	s.free = s.free.Add(time.Duration(size) * time.Second / lineBytes)
	until := s.free
	s.mu.Unlock()
	time.Sleep(time.Until(until))
}
