package outcome

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
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

// Compare says how the engine's outcome differs from the server's.
func Compare(engine, server Outcome) Kind {
	switch {
	case engine.Fails() && !server.Fails():
		return OnlyEngine
	case !engine.Fails() && server.Fails():
		return OnlyServer
	case engine.Fails() && !SameCode(engine.Code, server.Code):
		return Codes
	case !EqualDocs(engine.State, server.State):
		return States
	case !engine.Fails() && !EqualDoc(engine.Reply, server.Reply):
		return Replies
	}
	return Same
}

// EqualDoc reports whether two documents are equal byte for byte: in the order of their fields and in their types
// too.
func EqualDoc(x, y bson.D) bool { return bytes.Equal(tree.Encode(x), tree.Encode(y)) }

// EqualDocs is EqualDoc for lists. No list and an empty list are equal.
func EqualDocs(x, y []bson.D) bool {
	return len(x) == 0 && len(y) == 0 || bytes.Equal(tree.Encode(x), tree.Encode(y))
}
