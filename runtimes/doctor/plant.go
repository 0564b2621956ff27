package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Planted is a secret in the environment of this process. It must be created before any sandbox is prepared. A sandbox
// that was prepared earlier would not contain the secret even if it inherited the environment, so the check would prove
// nothing.
type Planted struct {
	Secret string
	name   string
}

// Plant puts a random secret into the environment of this process. Pull removes it.
func Plant() (Planted, error) {
	p := Planted{Secret: rand.Text(), name: "ATELIER_DOCTOR_CANARY"}
	return p, os.Setenv(p.name, p.Secret)
}

// Pull removes the secret from the environment.
func (p Planted) Pull() error {
	if p.name == "" {
		return nil
	}
	return os.Unsetenv(p.name)
}

// garden holds the canaries that a program must not reach: a file, an abstract socket and two ports. It counts the
// connections to them.
type garden struct {
	dir      string
	file     string   // path of a file that all users can read, so that only the sandbox protects it
	usr      []string // paths in /usr that programs do not need, and canaries there
	secret   string   // content of the files
	abstract string
	tcp, udp int // ports
	visits   atomic.Int64
	closers  []func() error
}

// plantGarden creates the canaries. It also checks that a process outside of a sandbox can reach them. Otherwise a
// search would prove nothing.
func plantGarden(ctx context.Context) (g *garden, err error) {
	g = &garden{secret: rand.Text(), abstract: "atelier-doctor-" + rand.Text()}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	if g.dir, err = os.MkdirTemp("", "atelier-doctor-"); err != nil {
		return g, err
	}
	g.closers = append(g.closers, func() error { return os.RemoveAll(g.dir) })
	g.file = filepath.Join(g.dir, "canary")
	//nolint:gosec // all users may read the canary, so that only the sandbox protects it
	if err := errors.Join(os.Chmod(g.dir, 0o755), os.WriteFile(g.file, []byte(g.secret), 0o644)); err != nil {
		return g, err
	}
	g.plantUsr()
	if err := g.listen(ctx); err != nil {
		return g, err
	}
	return g, g.control(ctx)
}

// usrCanary is the name of the check of /usr.
const usrCanary = "settings in /usr"

// plantUsr creates two canaries in /usr: one among the settings, readable for all users, and one among the libraries,
// readable only for its owner. A server without root cannot write there. In that case programs only try to read
// directories that they do not need.
func (g *garden) plantUsr() {
	g.usr = []string{"/usr/etc", "/usr/local/etc", "/usr/src", "/usr/local/src", "/usr/include"}
	for dir, mode := range map[string]os.FileMode{"/usr/local/etc": 0o644, "/usr/local/lib": 0o600} {
		file, err := os.CreateTemp(dir, "atelier-doctor-")
		if err != nil {
			continue
		}
		name := file.Name()
		g.closers = append(g.closers, func() error { return os.Remove(name) })
		if _, err := file.WriteString(g.secret); errors.Join(err, file.Chmod(mode), file.Close()) == nil {
			g.usr = append(g.usr, name)
		}
	}
}

func (g *garden) listen(ctx context.Context) error {
	var l net.ListenConfig
	unixSocket, err := l.Listen(ctx, "unix", "@"+g.abstract)
	if err != nil {
		return err
	}
	g.welcome(unixSocket)
	port, err := l.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g.welcome(port)
	packets, err := l.ListenPacket(ctx, "udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 16)
		for {
			if _, _, err := packets.ReadFrom(buf); err != nil {
				return
			}
			g.visits.Add(1)
		}
	}()
	g.closers = append(g.closers, func() error {
		err := packets.Close()
		<-ended
		return err
	})
	if _, err := fmt.Sscanf(port.Addr().String(), "127.0.0.1:%d", &g.tcp); err != nil {
		return err
	}
	_, err = fmt.Sscanf(packets.LocalAddr().String(), "127.0.0.1:%d", &g.udp)
	return err
}

// welcome counts the connections to a listener until the garden is closed.
func (g *garden) welcome(l net.Listener) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			g.visits.Add(1)
			_ = conn.Close() // only the number of connections matters
		}
	}()
	g.closers = append(g.closers, func() error {
		err := l.Close()
		<-ended
		return err
	})
}

// control checks that this process can reach each canary, and that the connections are counted.
func (g *garden) control(ctx context.Context) error {
	var d net.Dialer
	text, err := os.ReadFile(g.file)
	if err != nil || string(text) != g.secret {
		return fmt.Errorf("the canary file is not readable outside a sandbox: %w", err)
	}
	for network, address := range map[string]string{"unix": "@" + g.abstract, "tcp": fmt.Sprintf("127.0.0.1:%d", g.tcp), "udp": fmt.Sprintf("127.0.0.1:%d", g.udp)} {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return fmt.Errorf("a canary is not reachable outside a sandbox: %w", err)
		}
		if _, err := conn.Write([]byte("x")); err != nil && network == "udp" {
			return err
		}
		_ = conn.Close()
	}
	for deadline := time.Now().Add(2 * time.Second); g.visits.Load() < 3; {
		if time.Now().After(deadline) {
			return errors.New("the canaries did not count all test connections within 2 seconds")
		}
		time.Sleep(time.Millisecond)
	}
	g.visits.Store(0)
	return nil
}

func (g *garden) close() error {
	var err error
	for i := len(g.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, g.closers[i]())
	}
	return err
}

// addresses returns the addresses of this machine that a program could try to connect to.
func addresses() []string {
	found := []string{"127.0.0.1"}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return found
	}
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && !strings.Contains(ip.IP.String(), ":") && len(found) < 4 {
			found = append(found, ip.IP.String())
		}
	}
	return found
}
