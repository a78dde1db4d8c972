package model

import (
	"regexp"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A collation can make different strings equal, so the tenant "acme" could reach the
// documents of "ACME". Other types of tenants aren't affected. A command gets its
// collation from the caller or from the collection's default, which isn't known here. So
// under a scope with a string tenant
//
//   - a command without a collation gets the simple one, which compares bytes. This costs
//     no command, and holds if the collection is made again with another default;
//   - a command with another collation of the caller gets one more condition: a pattern
//     that matches the tenant alone. The server compares patterns without a collation. The
//     equality stays, because an index serves it.

// simple is the collation that scopes add to commands. Its address tells it from a
// collation of the caller.
var simple = &options.Collation{Locale: "simple"}

// folds reports whether a collation can make different strings equal.
func folds(c *options.Collation) bool { return c != nil && c.Locale != "simple" }

// comparesText returns the collation of a command that the scope's filter is added to.
func (s *scope) comparesText(c *options.Collation) *options.Collation {
	if c == nil && s.text {
		return simple
	}
	return c
}

// exactly returns the scope's filter as it is under a collation of the caller.
func (s *scope) exactly(c *options.Collation, filter bson.D) bson.D {
	if !folds(c) || !s.text {
		return filter
	}
	return And(filter, exactTenant(s.tenant))
}

// under returns the scope whose filters are as they are under a collation of the caller.
func (s *scope) under(c *options.Collation) *scope {
	if !folds(c) || !s.text {
		return s
	}
	own := *s
	own.filter, own.reaching = s.exactly(c, s.filter), s.exactly(c, s.reaching)
	return &own
}

// exactTenant returns the patterns for the strings of a tenant, or nil.
func exactTenant(tenant bson.D) (out bson.D) {
	for _, e := range tenant {
		if text, ok := e.Value.(string); ok {
			out = append(out, bson.E{Key: e.Key, Value: patternOf(text)})
		}
	}
	return out
}

// patternOf returns the pattern that only this string matches. A pattern in BSON can't
// contain a zero byte.
func patternOf(text string) bson.Regex {
	return bson.Regex{Pattern: `^` + strings.ReplaceAll(regexp.QuoteMeta(text), "\x00", `\x00`) + `\z`}
}

// sendCollated sends a command. If the scope added the collation and the server has no
// collations, it sends the command without it. This costs one command for each client.
func sendCollated[T any](db DB, c *options.Collation, send func(*options.Collation) (T, error)) (T, error) {
	if c != simple {
		return send(c)
	}
	if !core.HasCollations(db.Client()) {
		return send(nil)
	}
	out, err := send(c)
	if core.RefusedCollation(db.Client(), err) {
		return send(nil)
	}
	return out, err
}

// collationOf returns the address of the collation of a write, or nil for an insert.
func collationOf(m mongo.WriteModel) **options.Collation {
	switch m := m.(type) {
	case *mongo.UpdateOneModel:
		return &m.Collation
	case *mongo.UpdateManyModel:
		return &m.Collation
	case *mongo.ReplaceOneModel:
		return &m.Collation
	case *mongo.DeleteOneModel:
		return &m.Collation
	case *mongo.DeleteManyModel:
		return &m.Collation
	}
	return nil
}

// addedCollation returns the collation that scopes added to one of the writes, or nil.
func addedCollation(models []mongo.WriteModel) *options.Collation {
	for _, m := range models {
		if c := collationOf(m); c != nil && *c == simple {
			return simple
		}
	}
	return nil
}

// withCollation returns the writes of a batch, without the scope's collation if c is nil.
// The batch's models are copies of the caller's, so they can be changed.
func withCollation(models []mongo.WriteModel, c *options.Collation) []mongo.WriteModel {
	if c != nil {
		return models
	}
	for _, m := range models {
		if c := collationOf(m); c != nil && *c == simple {
			*c = nil
		}
	}
	return models
}
