package model

import (
	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// And joins filters so that a document must match all. If a field occurs twice, the
// result uses $and. Repeated conditions are dropped. The result is a new slice with
// shared values.
func And(filters ...bson.D) bson.D { return bsondoc.JoinFilters(filters...) }

// Eq returns the condition that a field equals v. It wraps v in $eq if the server could
// read v as operators or as a regular expression.
func Eq(v any) any { return mql.Eq(v) }
