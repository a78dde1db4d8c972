package differ

import (
	"bytes"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Kind says how two outcomes differ.
type Kind string

const (
	Same       Kind = ""
	OnlyEngine Kind = "only the engine fails"
	OnlyServer Kind = "only the server fails"
	Codes      Kind = "both fail, with different codes"
	Replies    Kind = "the replies differ"
	States     Kind = "the stored documents differ"
	Died       Kind = "the server ends"
)

// compare says how the engine's outcome differs from the server's.
func compare(engine, server Outcome) Kind {
	switch {
	case engine.failed() && !server.failed():
		return OnlyEngine
	case !engine.failed() && server.failed():
		return OnlyServer
	case engine.failed() && !sameCode(engine.Code, server.Code):
		return Codes
	case !equalDocs(engine.State, server.State):
		return States
	case !engine.failed() && !equalDoc(engine.Reply, server.Reply):
		return Replies
	}
	return Same
}

// onlyEngine reports whether only the engine fails, but for an upsert that finds its document there afterwards.
func (x difference) onlyEngine() bool {
	return x.kind == OnlyEngine || x.kind == Codes && x.server.Code == 11000
}

// onlyServer reports whether only the server fails, but for an upsert that finds its document there afterwards.
func (x difference) onlyServer() bool {
	return x.kind == OnlyServer || x.kind == Codes && x.engine.Code == 11000
}

func equalDoc(x, y bson.D) bool { return bytes.Equal(encode(x), encode(y)) }

func equalDocs(x, y []bson.D) bool {
	return len(x) == 0 && len(y) == 0 || bytes.Equal(encode(x), encode(y))
}

// show describes a difference for a person.
func show(engine, server Outcome) string {
	return fmt.Sprintf("engine: %s\nserver: %s", engine.show(), server.show())
}

func (o Outcome) show() string {
	text := func(v any) string {
		b, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
		if err != nil {
			return err.Error()
		}
		return string(b[len(`{"v":`) : len(b)-1])
	}
	s := ""
	if o.failed() {
		s = fmt.Sprintf("error %d (%s) ", o.Code, o.Text)
	}
	if len(o.Reply) > 0 {
		s += text(o.Reply)
	}
	if o.State != nil {
		s += " stored " + text(o.State)
	}
	return s
}
