package model

import (
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ownUpdate says how a plan writes to the watched collection.
type ownUpdate uint8

const (
	noUpdate   ownUpdate = iota
	byOperator           // MongoDB reports the updated fields, and among them the mark
	byPipeline           // MongoDB may report a replacement
)

// ownUpdates returns how the plan updates the watched collection. It refuses other writes
// to that collection.
func (s Stream) ownUpdates(p Plan) (own ownUpdate, err error) {
	merges := Step(nil)
	for _, list := range [][]Step{p.Steps, p.IfStale, p.InTx} {
		for _, step := range list {
			update, reason := s.touches(step)
			if reason != "" {
				return 0, s.refuse(step, reason)
			}
			if isMerge(step) {
				merges = step
			}
			own = max(own, update)
		}
	}
	if own == byPipeline && merges != nil {
		return 0, s.refuse(merges,
			"a plan that updates the watched collection by a pipeline runs in a transaction, which can't contain $merge or $out: "+
				"update by operators, or let the step write in another stream")
	}
	return own, nil
}

func (s Stream) refuse(step Step, reason string) error {
	return &ValueError{Collection: s.Collection, Field: "Plan", Value: clip(step.String(), 200), Reason: reason}
}

// marked returns the plan with the mark in each update of the watched collection.
func (s Stream) marked(p Plan, mark string) (Plan, error) {
	if own, err := s.ownUpdates(p); own == noUpdate || err != nil {
		return p, err
	}
	p = (&scope{set: bson.D{{Key: s.Mark, Value: mark}}, only: []string{s.Collection}}).plan(p)
	return p, p.Err()
}

// touches returns how the step updates the watched collection, or why it must not.
func (s Stream) touches(step Step) (own ownUpdate, reason string) {
	switch step := step.(type) {
	case MergeInto:
		if mergeTarget(step) == s.Collection {
			return 0, "a step with $merge or $out can't be marked as the stream's own: let it write to another collection"
		}
	case Write:
		if step.Collection != s.Collection {
			return noUpdate, ""
		}
		var update any
		upsert := (*bool)(nil)
		if core.IsNilModel(step.Model) {
			return noUpdate, "" // refused when it is run
		}
		switch m := step.Model.(type) {
		case *mongo.UpdateOneModel:
			update, upsert = m.Update, m.Upsert
		case *mongo.UpdateManyModel:
			update, upsert = m.Update, m.Upsert
		}
		switch {
		case s.Mark == "":
			return 0, "the plan writes to the watched collection, which would give new events without end: name a field in Mark"
		case update == nil || upsert != nil && *upsert:
			return 0, "in the watched collection, only updates of existing documents can be marked as the stream's own"
		case s.Since != "" && setsField(update, s.Since):
			return 0, "the plan sets the field " + s.Since + ", so the stream would poll its own write again"
		}
		if _, known := bsondoc.Operators(update); !known {
			return byPipeline, ""
		}
		return byOperator, ""
	}
	return noUpdate, ""
}

// setsField reports whether an update may set a field, or a path above or below it.
func setsField(update any, path string) bool {
	hits := func(fields any) bool {
		switch f := fields.(type) {
		case bson.D:
			for _, e := range f {
				if clash(e.Key, path) {
					return true
				}
			}
			return false
		case string:
			return clash(f, path)
		}
		return true
	}
	if stages, ok := update.(mongo.Pipeline); ok {
		for _, stage := range stages {
			for _, e := range stage {
				if name := strings.TrimPrefix(e.Key, "$"); name != "set" && name != "addFields" &&
					name != "unset" || hits(e.Value) {
					return true
				}
			}
		}
		return false
	}
	ops, known := bsondoc.Operators(update)
	for _, op := range ops {
		if hits(op.Value) {
			return true
		}
	}
	return !known
}
