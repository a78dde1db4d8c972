package tree

// Shifts of numbers by updates of many documents. The unique index on the left number is
// in the way: while an update runs, a shifted number can be another document's old
// number. So the first update stores shifted numbers as negative numbers, and a second
// one turns them.

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A band is a range of numbers, including both ends, that are shifted by the same
// distance.
type band struct {
	from, to int64 // to may be end
	by       int64
	depth    int64 // added to the depth of nodes whose left number is in the band
}

// A shift moves one band, or two bands of which the second follows the first. It never
// makes two numbers equal.
type shift struct {
	bands []band
	// Each node with a number in a band has both numbers there, and the new numbers are
	// unused.
	whole bool
	// This node isn't written.
	but *Node
	// Fields that are set too, by expressions.
	links  bson.D
	change int64
}

// planShift returns the updates of a shift: none if nothing is shifted; one if no left
// number changes, or if the shift is whole or direct; otherwise two.
//
//  1. Documents without this change's number or a later one get negative numbers and the
//     change's number.
//  2. Documents with this change's number and a negative left number get positive numbers.
//
// So each document is shifted once, wherever the updates are cut and however often they
// run. The first update skips a document that it has shifted, turned or not. The second
// one doesn't touch a document that the first one hasn't reached.
func (t *nestedSet) planShift(s shift) []model.Step {
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
	filter, index := t.matchShifted(s)
	sign := moves && !t.direct && !s.whole // which goes to numbers that are free
	steps := []model.Step{model.Write{
		Collection: t.Collection, Index: index, Idempotent: true,
		Model: &mongo.UpdateManyModel{
			Filter: filter, Update: mongo.Pipeline{mql.Op("$set", t.setNumbers(s, moves, sign))},
		},
	}}
	if sign {
		steps = append(steps, t.turnNumbers(s.change))
	}
	return steps
}

// matchShifted matches the documents of a shift, and names the index that finds them. A
// document can have only one of its numbers in a band: an ancestor of the place.
func (t *nestedSet) matchShifted(s shift) (filter bson.D, index string) {
	from, to := s.bands[0].from, s.bands[len(s.bands)-1].to
	also := bson.D{}
	if s.but != nil {
		also = append(also, mql.E("_id", mql.Op("$ne", s.but.ID)))
	}
	also = append(also, t.matchChangedBefore(s.change))
	on := func(path string) bson.D { return append(bson.D{matchBetween(path, from, to)}, also...) }
	switch {
	case s.whole:
		return on(t.left), t.nameLeftIndex()
	// A left number above from has its right number there too.
	case to == end:
		return on(t.right), t.nameRightIndex()
	default:
		return mql.Op("$or", on(t.left), on(t.right)), t.nameLeftIndex()
	}
}

// turnNumbers is the second update of a shift.
func (t *nestedSet) turnNumbers(change int64) model.Write {
	return model.Write{
		Collection: t.Collection, Index: t.nameLeftIndex(), Idempotent: true,
		Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: t.left, Value: mql.Op("$lt", int64(0))}, {Key: t.Links.Change, Value: change}},
			Update: mql.Op("$mul", bson.D{{Key: t.left, Value: int64(-1)}, {Key: t.right, Value: int64(-1)}}),
		},
	}
}

// setNumbers returns the fields that the first update of a shift sets. Both numbers of a
// node get the sign of its left number, which is negative if it was shifted.
func (t *nestedSet) setNumbers(s shift, moves, sign bool) bson.D {
	set := s.links
	if set == nil {
		set = bson.D{{Key: t.Links.Change, Value: s.change}}
	}
	left, right := "$"+t.left, "$"+t.right
	if moves {
		set = append(set, mql.E(t.left, s.mapNumber(left, sign)))
		if sign && !s.whole {
			hull := band{from: s.bands[0].from, to: s.bands[len(s.bands)-1].to}
			set = append(
				set,
				mql.E(
					t.right, mql.Op("$multiply", s.mapNumber(right, false), mql.Cond(hull.containsNumber(left), -1, 1)),
				),
			)
		} else {
			set = append(set, mql.E(t.right, s.mapNumber(right, sign)))
		}
	}
	for _, b := range s.bands {
		if b.depth == 0 {
			continue
		}
		by := any(int32(b.depth))
		if !s.whole || len(s.bands) > 1 {
			by = mql.Cond(b.containsNumber(left), by, 0)
		}
		depth := mql.Op("$ifNull", "$"+t.depth, 0)
		set = append(set, mql.E(t.depth, mql.Op("$add", depth, by)))
	}
	return set
}

// mapNumber is the expression of a number after the shift. If negative is true, shifted
// numbers are negative.
func (s shift) mapNumber(field string, negative bool) any {
	branches := bson.A{}
	for _, b := range s.bands {
		then := any(mql.Op("$add", field, b.by))
		if negative {
			then = mql.Op("$subtract", -b.by, field)
		}
		if s.whole && len(s.bands) == 1 {
			return then
		}
		branches = append(branches, bson.D{{Key: "case", Value: b.containsNumber(field)}, {Key: "then", Value: then}})
	}
	return mql.Op("$switch", bson.D{{Key: "branches", Value: branches}, {Key: "default", Value: field}})
}

// containsNumber is the expression of whether a field's number is in the band.
func (b band) containsNumber(field string) bson.D {
	from := mql.Op("$gte", field, b.from)
	if b.to == end {
		return from
	}
	return mql.Op("$and", from, mql.Op("$lte", field, b.to))
}
