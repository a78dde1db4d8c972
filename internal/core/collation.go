package core

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"weak"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// withoutCollations has the clients whose server refused a collation. MongoDB accepts a
// collation in each command. DocumentDB has no collations, so it compares strings by their
// bytes, and refuses a command that names a collation.
var withoutCollations sync.Map // weak.Pointer[mongo.Client] → true

// HasCollations reports false if the client's server has refused a collation.
func HasCollations(c *mongo.Client) bool {
	_, refused := withoutCollations.Load(weak.Make(c))
	return !refused
}

// RefusedCollation reports whether a server without collations refused a command because
// of its collation. It remembers this for [HasCollations].
func RefusedCollation(c *mongo.Client, err error) bool {
	var refused mongo.CommandError
	if err == nil || !errors.As(err, &refused) || !slices.Contains(notSupported, refused.Code) ||
		!strings.Contains(strings.ToLower(refused.Message), "collation") {
		return false
	}
	withoutCollations.Store(weak.Make(c), true)
	return true
}

// notSupported are the codes of servers without a feature: InternalError,
// CommandNotSupported and NotImplemented of FerretDB, and Amazon's code for a field that
// isn't supported. MongoDB has other codes for a collation that it can't use.
var notSupported = []int32{1, 115, 238, 303}
