package tree

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A band is a range of numbers, both ends included, that are shifted.
type band struct {
	from, to int64 // to may be end
	by       int64
	depth    int64 // added to the depth of nodes whose left number is in the band
}

// shift is a change of numbers: of one band, or of two of which the second follows the first. The map that they make of numbers
// keeps different ones different.
type shift struct {
	bands  []band
	whole  bool   // each node that has a number in the bands has both there, and goes to numbers that are free
	but    *Node  // is not written
	links  bson.D // fields that are set too, by expressions
	change int64
}

// steps are the updates of a shift, and none when nothing is shifted: one when no left number changes, or it is a whole or a
// direct one; else the one that writes negative numbers, and the one that turns them. Each document is written by the first while
// it doesn't have the number of this change or a later one, and by the second while it has it and is negative. So a document is
// shifted once, wherever the updates are cut and how often they are run: one that was shifted is passed over by the first,
// whether it is negative or turned already; and one that wasn't is not touched by the second.
func (t *nestedSet) steps(s shift) []model.Step {
	var bands []band
	moves := false
	for _, b := range s.bands {
		if b.from <= b.to && (b.by != 0 || b.depth != 0) {
			bands = append(bands, b)
			moves = moves || b.by != 0
		}
	}
	if len(bands) == 0 {
		return nil
	}
	s.bands = bands
	filter, index := t.shifted(s)
	sign := moves && !t.direct && !s.whole // which goes to numbers that are free
	steps := []model.Step{model.Write{
		Collection: t.Collection, Index: index, Once: true,
		Model: &mongo.UpdateManyModel{Filter: filter, Update: mongo.Pipeline{mql.Op("$set", t.numbers(s, moves, sign))}},
	}}
	if sign {
		steps = append(steps, t.turn(s.change))
	}
	return steps
}

// shifted matches what a shift writes.
func (t *nestedSet) shifted(s shift) (filter bson.D, index string) {
	from, to := s.bands[0].from, s.bands[len(s.bands)-1].to
	also := bson.D{}
	if s.but != nil {
		also = append(also, mql.E("_id", mql.Op("$ne", s.but.ID)))
	}
	also = append(also, t.notYet(s.change))
	on := func(path string) bson.D { return append(bson.D{between(path, from, to)}, also...) }
	switch {
	case s.whole:
		return on(t.left), t.byLeft()
	case to == end: // a left number in the band has its right number there
		return on(t.right), t.byRight()
	default:
		return mql.Op("$or", on(t.left), on(t.right)), t.byLeft()
	}
}

// turn is the update that makes a change's negative numbers positive.
func (t *nestedSet) turn(change int64) model.Write {
	return model.Write{
		Collection: t.Collection, Index: t.byLeft(), Once: true,
		Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: t.left, Value: mql.Op("$lt", int64(0))}, {Key: t.Links.Change, Value: change}},
			Update: mql.Op("$mul", bson.D{{Key: t.left, Value: int64(-1)}, {Key: t.right, Value: int64(-1)}}),
		},
	}
}

// numbers are the fields that the first update sets. Both numbers get the sign of the left one, which is negative where it changes.
func (t *nestedSet) numbers(s shift, moves, sign bool) bson.D {
	set := s.links
	if set == nil {
		set = bson.D{{Key: t.Links.Change, Value: s.change}}
	}
	left, right := "$"+t.left, "$"+t.right
	if moves {
		set = append(set, mql.E(t.left, s.mapped(left, sign)))
		if sign && !s.whole {
			hull := band{from: s.bands[0].from, to: s.bands[len(s.bands)-1].to}
			set = append(set, mql.E(t.right, mql.Op("$multiply", s.mapped(right, false), mql.Cond(hull.has(left), -1, 1))))
		} else {
			set = append(set, mql.E(t.right, s.mapped(right, sign)))
		}
	}
	for _, b := range s.bands {
		if b.depth == 0 {
			continue
		}
		by := any(int32(b.depth))
		if !s.whole || len(s.bands) > 1 {
			by = mql.Cond(b.has(left), by, 0)
		}
		depth := mql.Op("$ifNull", "$"+t.depth, 0) // which a root may leave out
		set = append(set, mql.E(t.depth, mql.Op("$add", depth, by)))
	}
	return set
}

// mapped is the expression of a shifted number, negative if it is shifted and so it is wanted.
func (s shift) mapped(field string, negative bool) any {
	branches := bson.A{}
	for _, b := range s.bands {
		then := any(mql.Op("$add", field, b.by))
		if negative {
			then = mql.Op("$subtract", -b.by, field)
		}
		if s.whole && len(s.bands) == 1 {
			return then
		}
		branches = append(branches, bson.D{{Key: "case", Value: b.has(field)}, {Key: "then", Value: then}})
	}
	return mql.Op("$switch", bson.D{{Key: "branches", Value: branches}, {Key: "default", Value: field}})
}

// has is the expression of whether a number is in the band.
func (b band) has(field string) bson.D {
	from := mql.Op("$gte", field, b.from)
	if b.to == end {
		return from
	}
	return mql.Op("$and", from, mql.Op("$lte", field, b.to))
}
