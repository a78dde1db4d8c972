package changestream

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
)

// Options are the fields of a $changeStream stage.
type Options struct {
	All      bool           // allChangesForCluster
	Expanded bool           // showExpandedEvents
	full     string         // fullDocument
	before   string         // fullDocumentBeforeChange
	hasToken bool           // resumeAfter or startAfter
	from     token          //
	hasTime  bool           // startAtOperationTime
	time     bson.Timestamp //
}

// ReadOptions reads the fields of a $changeStream stage.
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
			err = mongoerr.New(mongoerr.InvalidResumeToken,
				"Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.")
		}
	case start != nil:
		o.hasToken = true
		o.from, err = readToken(start)
	}
	return o, err
}
