// Command program is a WASI command for tests. The field do of its input selects a behaviour, such as a crash.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

var kept [][]byte

func deep(n int) int { return deep(n+1) + 1 }

func main() {
	text, _ := io.ReadAll(os.Stdin)
	var in struct {
		Do    string `json:"do"`
		Name  string `json:"name"`
		Bytes int    `json:"bytes"`
	}
	_ = json.Unmarshal(text, &in)
	say := func(v any) { _ = json.NewEncoder(os.Stdout).Encode(v) }
	switch in.Do {
	case "hello":
		fmt.Fprintln(os.Stderr, "hello", in.Name)
		say(map[string]string{"greeting": "Hello, " + in.Name})
	case "echo":
		os.Stdout.Write(text)
	case "nothing":
	case "words":
		fmt.Println("these are words")
	case "surroundings":
		host, _ := os.Hostname()
		_, file := os.ReadFile("/etc/passwd")
		_, dir := os.ReadDir("/")
		_, file2 := os.Create("x")
		_, dial := net.Dial("tcp", "127.0.0.1:80")
		say(map[string]any{"env": os.Environ(), "args": os.Args, "host": host, "open": []bool{file == nil, dir == nil, file2 == nil, dial == nil}, "year": time.Now().Year() > 2000})
	case "mark":
		kept = append(kept, make([]byte, 8))
		say(len(kept))
	case "exit":
		fmt.Fprintln(os.Stderr, "going")
		os.Exit(3)
	case "panic":
		panic("boom")
	case "loop":
		fmt.Println("started")
		for {
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "memory":
		for {
			kept = append(kept, make([]byte, 16<<20))
		}
	case "deep":
		say(deep(0))
	case "flood":
		for {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 100))
		}
	case "big":
		say(strings.Repeat("x", in.Bytes))
	case "brackets":
		fmt.Println(strings.Repeat("[", in.Bytes) + strings.Repeat("]", in.Bytes))
	case "key twice":
		fmt.Println(`{"a":1,"a":2}`)
	}
}
