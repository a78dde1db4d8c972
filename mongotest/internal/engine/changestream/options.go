package changestream

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
)

// Options are the fields of a $changeStream stage
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/changeStream/). The command aggregate reads All
// and Expanded too: All must go with a scope of all databases.
type Options struct {
	All      bool           // allChangesForCluster
	Expanded bool           // showExpandedEvents
	full     string         // fullDocument: "default", "updateLookup", "whenAvailable" or "required"
	before   string         // fullDocumentBeforeChange: "off", "whenAvailable" or "required"
	hasToken bool           // resumeAfter or startAfter is given
	from     token          // the token of either
	hasTime  bool           // startAtOperationTime is given
	time     bson.Timestamp // its value
}

// ReadOptions reads the fields of a $changeStream stage. resumeAfter and startAfter differ in one thing: only
// startAfter takes the token of an invalidate event.
func ReadOptions(a *args.Reader) (o Options, err error) {
	err = a.CheckKnown([]string{"fullDocument", "fullDocumentBeforeChange", "resumeAfter", "startAfter",
		"startAtOperationTime", "allChangesForCluster", "showExpandedEvents"})
	if err != nil {
		return o, err
	}
	o.All = a.Boolean("allChangesForCluster", false)
	o.Expanded = a.Boolean("showExpandedEvents", false)
	o.full = a.OneOf("fullDocument", "default", "updateLookup", "whenAvailable", "required")
	o.before = a.OneOf("fullDocumentBeforeChange", "off", "whenAvailable", "required")
	after, start := a.Document("resumeAfter"), a.Document("startAfter")
	if v, ok := a.Get("startAtOperationTime"); ok {
		if o.time, o.hasTime = v.(bson.Timestamp); !o.hasTime {
			a.RefuseType("startAtOperationTime", v, "timestamp")
		}
	}
	switch {
	case a.Err != nil:
		return o, a.Err
	case after != nil && start != nil:
		return o, mongoerr.New(50865, "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
	case o.hasTime && (after != nil || start != nil):
		return o, mongoerr.New(40674, "Only one type of resume option is allowed, but multiple were found")
	case after != nil:
		o.hasToken = true
		if o.from, err = readToken(after); err == nil && o.from.kind == invalidated {
			err = mongoerr.New(mongoerr.InvalidResumeToken, "Attempting to resume a change stream using "+
				"'resumeAfter' is not allowed from an invalidate notification.")
		}
	case start != nil:
		o.hasToken = true
		o.from, err = readToken(start)
	}
	return o, err
}
