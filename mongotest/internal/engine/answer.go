package engine

import (
	"bytes"
	"net"

	"github.com/docmodel/docmodel/mongotest/internal/engine/wire"
)

// Answer answers one message without a connection, in the caller's goroutine.
func (e *Engine) Answer(message []byte) ([]byte, error) {
	m, err := wire.Parse(message)
	if err != nil {
		return nil, err
	}
	var out sink
	err = newConn(e, &out, 1, "engine.local:27017").answer(m)
	return out.Bytes(), err
}

// sink is a pipe that keeps what is written.
type sink struct {
	net.Conn
	bytes.Buffer
}

func (s *sink) Write(b []byte) (int, error) { return s.Buffer.Write(b) }
func (s *sink) Read(b []byte) (int, error)  { return s.Buffer.Read(b) }
