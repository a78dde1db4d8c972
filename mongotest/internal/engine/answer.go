package engine

import (
	"bytes"
	"net"

	"github.com/docmodel/docmodel/mongotest/internal/engine/wire"
)

// Answer answers one message without a connection, in the caller's goroutine. The message and the reply have their
// headers. Fuzz tests call it, and so do benchmarks of the engine without a pipe.
func (e *Engine) Answer(message []byte) ([]byte, error) {
	m, err := wire.Parse(message)
	if err != nil {
		return nil, err
	}
	var out sink
	err = newConn(e, &out, 1, "engine.local:27017").answer(m)
	return out.Bytes(), err
}

// sink is a connection that keeps the bytes that are written to it. Only the methods below may be called.
type sink struct {
	net.Conn
	bytes.Buffer
}

// Write and Read are declared because both embedded types have them.

func (s *sink) Write(b []byte) (int, error) { return s.Buffer.Write(b) }
func (s *sink) Read(b []byte) (int, error)  { return s.Buffer.Read(b) }
