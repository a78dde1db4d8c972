package model

import (
	"cmp"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Modify changes one document by findAndModify, and returns the document from before or
// after the change.
type Modify[D any] struct{ FindAndModify }

// A FindAndModify is the non-generic part of a [Modify]: its findAndModify command.
type FindAndModify struct {
	Collection   string
	Filter       bson.D
	Update       any    // a bson.D of operators, a mongo.Pipeline, or nil if Remove is set
	Sort         bson.D // order of the matches; only the first is used
	Projection   bson.D
	ArrayFilters bson.A
	Upsert       bool
	After        bool // return the document after the change
	Remove       bool // delete the document
	Keyed        bool // under a Scope, the _ids carry the tenant: see Write.Keyed
	Options      ModifyOptions
	Index        string // name of the filter's index, or "" if unknown
	Err          error  // error for bad input; Run returns it

	plain bool // made by a Collection, which knows no techniques
	codec *core.Codec
	used  []use
	keys  bson.D // the tenant that scopes put into the _ids
}

// Modify returns a findAndModify command. An empty filter matches any document. A nil
// filter makes Run return a [*ValueError]. To delete the document, pass a nil update and
// set [FindAndModify].Remove.
//
// Cost: one command, one document, which is returned.
//
// Consistency: the command is atomic. A second run can change another document.
func (c *Collection[D, K]) Modify(filter, update bson.D) *Modify[D] {
	m := new(Modify[D])
	declOf(c).findAndModify(&m.FindAndModify, filter, update)
	return m
}

//go:noinline
func (c declaration) findAndModify(m *FindAndModify, filter, update bson.D) {
	m.Collection, m.codec, m.Keyed = c.Name(), c.Codec(), c.Docs.IsKeyed()
	m.plain = true
	if m.Filter, m.Err = c.Codec().CopyD(filter); m.Err != nil {
		return
	}
	u, err := c.Codec().CopyD(update)
	if err == nil {
		err = cmp.Or(c.CheckFilter(m.Filter), c.CheckUpdate(u))
	}
	if m.Err = err; u != nil { // a nil bson.D means no update, for Remove
		m.Update = u
	}
}

// Command returns the findAndModify command, without the fields that the driver adds.
func (m *FindAndModify) Command() bson.D {
	cmd := bson.D{{Key: "findAndModify", Value: m.Collection}, {Key: "query", Value: orEmpty(m.Filter)}}
	add := func(on bool, key string, v any) {
		if on {
			cmd = append(cmd, bson.E{Key: key, Value: v})
		}
	}
	add(len(m.Sort) > 0, "sort", m.Sort)
	add(m.Remove, "remove", true)
	add(!m.Remove, "update", m.Update)
	add(m.After, "new", true)
	add(m.Upsert, "upsert", true)
	add(len(m.Projection) > 0, "fields", m.Projection)
	add(len(m.ArrayFilters) > 0, "arrayFilters", m.ArrayFilters)
	return m.Options.appendTo(cmd)
}

// String returns the command in mongosh syntax.
func (m *FindAndModify) String() string {
	if err := checkModify(m); err != nil {
		return "// refused: " + err.Error()
	}
	return shellCall(m.Collection, "findAndModify", m.Command()[1:])
}

// Cost returns the price: one command, one document written, one returned. Nothing is
// written or returned if no document matches. An upsert that inserts a document returns it
// only with After.
//
//go:noinline
func (m *FindAndModify) Cost() Cost {
	return Cost{Commands: 1, Written: 1, Returned: 1, Indexes: indexes(m.Index)}
}

func checkModify(m *FindAndModify) error {
	switch {
	case m.Err != nil:
		return m.Err
	case m.Collection == "":
		return errNoCollection("a findAndModify")
	case m.Filter == nil:
		return &ValueError{Collection: m.Collection, Field: "Filter", Reason: "is nil: give bson.D{} to match any document"}
	case m.Remove && (m.Update != nil || m.After || m.Upsert):
		return &ValueError{Collection: m.Collection, Field: "Remove", Reason: "takes no Update, After or Upsert"}
	case !m.Remove && m.Update == nil:
		return &ValueError{Collection: m.Collection, Field: "Update", Reason: "is missing"}
	}
	return cmp.Or(core.CheckDepth(m.Filter), core.CheckDepth(m.Update), core.CheckDepth(m.Sort),
		core.CheckDepth(m.Projection), core.CheckDepth(m.ArrayFilters), m.Options.check())
}
