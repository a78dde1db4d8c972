package checks

import (
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A used path is one that a generated command writes or has in a filter.
type usedPath struct {
	collection, path string
	write            bool
}

// usedPaths collects the paths that commands use.
type usedPaths map[usedPath]bool

func (u usedPaths) add(collection, path string, write bool) {
	if path = plainPath(path); path == "" || path == "_id" || !write && strings.HasPrefix(path, "_id.") ||
		strings.HasPrefix(path, "_m.") {
		return // a store has the field _m of its own
	}
	u[usedPath{collection, path, write}] = true
}

// plainPath is a path without positions.
func plainPath(path string) string {
	parts := strings.Split(path, ".")
	parts = slices.DeleteFunc(parts, func(p string) bool {
		return strings.HasPrefix(p, "$") || p != "" && strings.Trim(p, "0123456789") == ""
	})
	return strings.Join(parts, ".")
}

// value collects what a case generates.
func (u usedPaths) value(c Case, v any, s string) {
	switch v := v.(type) {
	case nil, mongo.Pipeline, bson.D: // the caller says of what
	case model.Write:
		u.write(v)
	case model.MergeInto:
		u.pipeline(v.Collection, v.Pipeline)
	case model.Plan:
		u.steps(c, v.Steps)
		u.steps(c, v.IfStale)
		u.steps(c, v.InTx)
	case model.Check:
		for _, q := range v.Queries {
			u.pipeline(q.Collection, q.Pipeline)
		}
		u.pipeline(v.Collection, v.Find().Pipeline)
	case model.Index:
		for _, k := range v.Keys {
			u.add(v.Collection, k.Key, false)
		}
		u.filter(v.Collection, "", v.Partial)
	case model.Job:
		if v.Err != nil {
			return
		}
		for _, stage := range v.Stages {
			u.filter(stage.Collection, "", stage.Filter)
			u.pipeline(stage.Collection, stage.Pipeline)
			if p, err := c.planned(stage, s); err == nil {
				u.value(c, p, s)
			}
		}
	case interface{ Command() bson.D }:
		if errorOf(v) == nil {
			u.command(v.Command())
		}
	default:
		u.deferred(c, v, s)
	}
}

func (u usedPaths) steps(c Case, steps []model.Step) {
	for _, step := range steps {
		u.value(c, step, "")
	}
}

func (u usedPaths) deferred(c Case, v any, s string) {
	r := reflect.Indirect(reflect.ValueOf(v))
	switch {
	case r.Kind() == reflect.Slice:
		for i := range r.Len() {
			u.value(c, r.Index(i).Interface(), s)
		}
	case decides(v) && errorOf(v) == nil:
		if p, err := c.decided(v, s); err == nil {
			u.value(c, p, s)
		}
	}
}

func (u usedPaths) command(cmd bson.D) {
	var collection string
	for _, e := range cmd {
		switch e.Key {
		case "find", "aggregate", "findAndModify", "findandmodify", "count", "distinct":
			collection, _ = e.Value.(string)
		case "filter", "query", "q":
			u.filter(collection, "", e.Value)
		case "pipeline":
			u.pipeline(collection, e.Value)
		case "update":
			u.update(collection, e.Value)
		case "remove":
			u.add(collection, model.Whole, true)
		}
	}
}

func (u usedPaths) write(w model.Write) {
	if w.Err != nil {
		return
	}
	if w.Done != nil {
		u.filter(w.Collection, "", w.Done)
	}
	for _, r := range w.Reasons {
		u.filter(w.Collection, "", r.If)
		u.steps(Case{}, r.Instead)
	}
	whole := func(yes bool) {
		if yes {
			u.add(w.Collection, model.Whole, true)
		}
	}
	is := func(upsert *bool) bool { return upsert != nil && *upsert }
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		whole(true)
	case *mongo.UpdateOneModel:
		u.filter(w.Collection, "", m.Filter)
		u.update(w.Collection, m.Update)
		whole(is(m.Upsert))
	case *mongo.UpdateManyModel:
		u.filter(w.Collection, "", m.Filter)
		u.update(w.Collection, m.Update)
		whole(is(m.Upsert))
	case *mongo.ReplaceOneModel:
		u.filter(w.Collection, "", m.Filter)
		whole(true)
	case *mongo.DeleteOneModel:
		u.filter(w.Collection, "", m.Filter)
		whole(true)
	case *mongo.DeleteManyModel:
		u.filter(w.Collection, "", m.Filter)
		whole(true)
	}
}

// filter collects the paths of a filter, below a prefix.
func (u usedPaths) filter(collection, prefix string, v any) {
	d, ok := decoded(v).(bson.D)
	if !ok {
		return
	}
	for _, e := range d {
		switch {
		case e.Key == "$and" || e.Key == "$or" || e.Key == "$nor":
			for _, one := range asList(e.Value) {
				u.filter(collection, prefix, one)
			}
		case e.Key == "$elemMatch" || e.Key == "$not" || e.Key == "$all":
			u.filter(collection, prefix, e.Value)
			for _, one := range asList(e.Value) {
				u.filter(collection, prefix, one)
			}
		case e.Key == "$expr":
			u.expression(collection, e.Value)
		case strings.HasPrefix(e.Key, "$"):
		default:
			path := e.Key
			if prefix != "" {
				path = prefix + "." + path
			}
			u.add(collection, path, false)
			if inner, ok := e.Value.(bson.D); ok && len(inner) > 0 && strings.HasPrefix(inner[0].Key, "$") {
				u.filter(collection, path, inner)
			}
		}
	}
}

// expression collects the paths of an expression.
func (u usedPaths) expression(collection string, v any) {
	switch v := v.(type) {
	case string:
		if path, ok := strings.CutPrefix(v, "$"); ok && !strings.HasPrefix(path, "$") {
			u.add(collection, path, false)
		} else if path, ok := strings.CutPrefix(v, "$$ROOT."); ok {
			u.add(collection, path, false)
		}
	case bson.D:
		for _, e := range v {
			if e.Key != "$literal" {
				u.expression(collection, e.Value)
			}
		}
	default:
		for _, one := range asList(v) {
			u.expression(collection, one)
		}
	}
}

// decoded is a document that is encoded already, as a bson.D; anything else as it is.
func decoded(v any) any {
	raw, ok := v.(bson.Raw)
	if !ok {
		return v
	}
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		panic(err)
	}
	return d
}

// update collects what an update writes.
func (u usedPaths) update(collection string, v any) {
	d, ok := decoded(v).(bson.D)
	if !ok {
		for _, stage := range asList(v) {
			u.updateStage(collection, stage)
		}
		return
	}
	for _, op := range d {
		fields, ok := op.Value.(bson.D)
		if !ok || !strings.HasPrefix(op.Key, "$") {
			u.add(collection, model.Whole, true)
			continue
		}
		for _, f := range fields {
			u.add(collection, f.Key, true)
			if to, ok := f.Value.(string); ok && op.Key == "$rename" {
				u.add(collection, to, true)
			}
		}
	}
}

// updateStage collects what a stage of a pipeline update writes.
func (u usedPaths) updateStage(collection string, v any) {
	d, _ := v.(bson.D)
	for _, e := range d {
		switch fields := e.Value.(type) {
		case bson.D:
			if e.Key != "$set" && e.Key != "$unset" && e.Key != "$addFields" {
				u.add(collection, model.Whole, true)
				continue
			}
			for _, f := range fields {
				u.add(collection, f.Key, true)
			}
		case string:
			u.add(collection, fields, true)
		default:
			for _, f := range asList(fields) {
				path, _ := f.(string)
				u.add(collection, path, true)
			}
		}
	}
}

// pipeline collects the conditions before documents are given another shape, and those on other collections.
func (u usedPaths) pipeline(collection string, v any) {
	shaped := false
	for _, stage := range asList(v) {
		d, _ := stage.(bson.D)
		for _, e := range d {
			switch e.Key {
			case "$match":
				if !shaped {
					u.filter(collection, "", e.Value)
				}
				continue
			case "$sort", "$limit", "$skip":
				continue
			case "$lookup", "$graphLookup", "$unionWith", "$merge", "$out":
				u.joined(e.Key, e.Value)
			case "$facet":
				inner, _ := e.Value.(bson.D)
				for _, f := range inner {
					if !shaped {
						u.pipeline(collection, f.Value)
					}
				}
			}
			shaped = true
		}
	}
}

// joined collects what a stage uses of another collection.
func (u usedPaths) joined(stage string, v any) {
	d, ok := v.(bson.D)
	if !ok {
		return
	}
	get := func(key string) any {
		for _, e := range d {
			if e.Key == key {
				return e.Value
			}
		}
		return nil
	}
	text := func(key string) string { s, _ := get(key).(string); return s }
	switch stage {
	case "$lookup":
		u.add(text("from"), text("foreignField"), false)
		u.pipeline(text("from"), get("pipeline"))
	case "$graphLookup":
		u.add(text("from"), text("connectToField"), false)
	case "$unionWith":
		u.pipeline(text("coll"), get("pipeline"))
	case "$merge":
		u.add(text("into"), model.Whole, true)
	}
}

// asList is a list of any kind.
func asList(v any) (out []any) {
	r := reflect.ValueOf(v)
	if _, isDoc := v.(bson.D); isDoc || r.Kind() != reflect.Slice {
		return nil
	}
	for i := range r.Len() {
		out = append(out, r.Index(i).Interface())
	}
	return out
}
