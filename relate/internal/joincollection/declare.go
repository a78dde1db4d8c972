// Package joincollection keeps relations with a document for each pair: what is behind relate.JoinCollection.
package joincollection

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Relation is a collection of links, each of which holds an id of either side.
type Relation struct {
	Links         *core.Docs
	lefts, rights string     // collections
	Left, Right   idref.Held // in the links
	order         bson.D     // newest first, total
}

// Declare panics unless each link can hold both ids and be put in order by a path.
func Declare(links *core.Docs, left core.Field, lefts *core.Docs, right core.Field, rights *core.Docs, by string) Relation {
	place := core.Place("NewJoinCollection of " + links.Name())
	for _, f := range []core.Field{left, right} {
		switch {
		case f.Arrays > 0:
			place.Fail(fmt.Sprintf("path %q crosses an array", f.Path), "name a single id: each link connects one pair")
		case f.Path == "_id" || strings.HasPrefix(f.Path, "_id."):
			place.Fail(fmt.Sprintf("path %q is in the _id", f.Path), "store both ids in fields outside the _id; the _id may repeat them")
		}
	}
	if core.Overlap(left.Path, right.Path) {
		place.Fail(fmt.Sprintf("paths %q and %q overlap", left.Path, right.Path), "store each id in a field of its own")
	}
	if by != "" && by != "_id" {
		if f := links.MustField(by); f.Arrays > 0 {
			place.Fail(fmt.Sprintf("path %q crosses an array", f.Path), "order by a single value")
		}
		if core.Overlap(by, left.Path) || core.Overlap(by, right.Path) {
			place.Fail(fmt.Sprintf("the order %q is one of the ids", by), "order by another field")
		}
	}
	return Relation{links, lefts.Name(), rights.Name(), idref.NewHeld(links, left.Path, lefts), idref.NewHeld(links, right.Path, rights), stmt.NewestFirst(by)}
}

func (j *Relation) Indexes() []model.Index {
	unique := commands.Index(j.Links.Name(), "one link per pair; the link of a pair", mql.E(j.Left.Path, 1), mql.E(j.Right.Path, 1))
	unique.Unique = true
	left, right := j.Side(true), j.Side(false)
	return []model.Index{unique, left.Index(), right.Index()}
}

// PairIndex is the name of the unique index.
func (j *Relation) PairIndex() string {
	return model.NewIndex("", bson.D{{Key: j.Left.Path, Value: 1}, {Key: j.Right.Path, Value: 1}}).Name
}

func (j *Relation) Relations() []model.Relation {
	end := func(path, to string) model.Relation {
		return model.Relation{
			From: j.Links.Name(), FromPath: path, To: to, ToPath: "_id",
			FromEnd: model.Many, ToEnd: model.ExactlyOne, Label: "join document",
		}
	}
	return []model.Relation{end(j.Left.Path, j.lefts), end(j.Right.Path, j.rights)}
}

// Side is the left side, or the right one.
func (j *Relation) Side(left bool) Side {
	if left {
		return Side{j, j.Left, j.Left.Path, j.lefts, j.Right.Path, j.rights}
	}
	return Side{j, j.Right, j.Right.Path, j.rights, j.Left.Path, j.lefts}
}

// Side is one side, whose documents have links.
type Side struct {
	*Relation
	IDs           idref.Held
	path, docs    string // of the ids in the links, and the collection that they lead to
	other, others string // the same of the other side
}

func (s *Side) Index() model.Index {
	return commands.Lookup(s.Links.Name(), "the "+s.Links.Name()+" of a document of "+s.docs+", newest first", append(bson.D{{Key: s.path, Value: 1}}, s.order...)...)
}

func (s *Side) Reference() idref.Ref {
	return idref.Ref{From: s.Links.Name(), Path: s.path, To: s.docs}
}

// Footprints are the paths that are used.
func (j *Relation) Footprints() []model.Footprint {
	links := j.Links.Name()
	return append(model.Writes.In(links, model.Whole), model.Reads.In(links, j.Left.Path, j.Right.Path, j.order[0].Key)...)
}
