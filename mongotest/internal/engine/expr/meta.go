package expr

import (
	"slices"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// metadata are operators for the knowledge of a query about a document, beside its fields.
var metadata = table{"$meta": parseMeta}

// absentMetadata are the other arguments that MongoDB's $meta takes. They are refused by their names.
var absentMetadata = []string{
	"geoNearDistance", "geoNearPoint", "indexKey", "randVal", "recordId", "score", "scoreDetails", "searchHighlights",
	"searchRootDocumentId", "searchScore", "searchScoreDetails", "searchSequenceToken", "sortKey", "stream",
	"timeseriesBucketMaxTime", "timeseriesBucketMinTime", "vectorSearchDistance", "vectorSearchScore",
}

// parseMeta parses {$meta: "textScore"}: how well the document matches a $text search, a double. It needs a scope by
// [Scope.WithScore]. The argument isn't an expression.
func parseMeta(_ string, arg any, s Scope) (Expr, error) {
	name, ok := arg.(string)
	switch {
	case !ok:
		return nil, mongoerr.New(17307, "$meta only supports string arguments")
	case slices.Contains(absentMetadata, name):
		return nil, mongoerr.New(mongoerr.NotImplemented, "$meta: %s isn't implemented by the embedded engine", name)
	case name != "textScore":
		return nil, mongoerr.New(17308, "Unsupported argument to $meta: %s", name)
	case !s.scored:
		return nil, mongoerr.New(40218, "query requires text score metadata, but it is not available")
	}
	return function(func(c *Context) (any, error) { return *c.score, nil }), nil
}
