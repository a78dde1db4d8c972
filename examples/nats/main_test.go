package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// server starts a nats-server with JetStream.
func server() (uri string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "jetstream")
	if err != nil {
		return "", nil, err
	}
	ports := filepath.Join(dir, "ports")
	if err := os.Mkdir(ports, 0o700); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("nats-server", "-js", "-sd", dir, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", ports)
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	for range 200 {
		time.Sleep(50 * time.Millisecond)
		if uri = portOf(ports); uri == "" {
			continue
		}
		if nc, err := nats.Connect(uri); err == nil {
			nc.Close()
			return uri, stop, nil
		}
	}
	stop()
	return "", nil, fmt.Errorf("nats-server doesn't answer")
}

// portOf reads the server's address.
func portOf(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.ports"))
	if len(files) == 0 {
		return ""
	}
	var port int
	text, err := os.ReadFile(files[0])
	if err != nil {
		return ""
	}
	for i := range text {
		if _, err := fmt.Sscanf(string(text[i:]), "127.0.0.1:%d", &port); err == nil {
			return fmt.Sprintf("nats://127.0.0.1:%d", port)
		}
	}
	return ""
}

func Example() {
	uri, stop, err := server()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	fmt.Println(run(context.Background(), uri))
	// Output:
	// 5 events wait
	// 5 messages are in JetStream
	// 50 are reserved, though each message was handled twice
	// <nil>
}

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("nats-server"); err != nil {
		fmt.Println("nats-server is not installed: no test runs")
		return
	}
	os.Exit(m.Run())
}
