package model

import (
	"regexp"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A collation can make different strings equal, so the tenant "acme" could reach the
// documents of "ACME". Other types of tenants aren't affected. So a command with a
// collation of the caller gets one more condition: a pattern that matches the tenant
// alone. The server compares patterns without a collation. The equality stays, because an
// index serves it.

// folds reports whether a collation can make different strings equal.
func folds(c *options.Collation) bool { return c != nil && c.Locale != "simple" }

// exactly returns the scope's filter as it is under a collation of the caller.
func (s *scope) exactly(c *options.Collation, filter bson.D) bson.D {
	if !folds(c) || s.text == "" {
		return filter
	}
	return bsondoc.JoinFilters(filter, exactTenant(s.tenant))
}

// matchExactly returns the scope whose filters match the tenant exactly under a collation.
func (s *scope) matchExactly(c *options.Collation) *scope {
	if !folds(c) || s.text == "" {
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
