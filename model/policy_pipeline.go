package model

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Under returns the step with the policy's filter on what it reads, and its fields on what it writes. A step that could write to a
// document that the filter hides is refused with a [*ConflictError]: an $out, and a $merge that finds its documents by _id alone, for
// another tenant's document may have that _id. A $merge on the tenant's field too is kept under it.
func (m MergeInto) Under(p Policy) MergeInto {
	if m.check() != nil {
		return m
	}
	p = p.frozen()
	last := len(m.Pipeline) - 1
	head, err := p.pipeline(m.Collection, m.Pipeline[:last])
	if err != nil {
		m.Err = err
		return m
	}
	target := targetOf(m.Pipeline[last])
	if p.holds(target) && len(p.Filter) > 0 && !keepsOthers(m.Pipeline[last], p.tenant()) {
		m.Err = &ConflictError{Collection: target, Reason: "a " + m.Pipeline[last][0].Key + " can't be kept under a policy's filter: " +
			"it would write documents that the filter hides; leave the collection out of the policy's Collections, " +
			"give each tenant a collection of its own (Collection.Named), or merge on the tenant's field too, by a unique index"}
		return m
	}
	if fields := slices.Concat(p.onInsertDocument(), p.Set); p.holds(target) && len(fields) > 0 {
		head = append(head, Policy{Set: fields}.setStage())
	}
	m.Pipeline = append(head, m.Pipeline[last])
	return m
}

// keepsOthers reports whether a last stage writes to no document of another tenant: a $merge that compares the tenant too, or that fails
// at any document that is there.
func keepsOthers(stage, tenant bson.D) bool {
	args, ok := asDocument(stage[0].Value)
	if stage[0].Key != "$merge" || !ok {
		return false
	}
	if how, _ := asString(valueOf(args, "whenMatched")); how == "fail" {
		return true
	}
	var on []any
	switch list := valueOf(args, "on").(type) {
	case bson.A:
		on = list
	case []string:
		for _, s := range list {
			on = append(on, s)
		}
	}
	return len(tenant) > 0 && !slices.ContainsFunc(tenant, func(e bson.E) bool { return !slices.Contains(on, any(e.Key)) })
}

// targetOf is the collection that a $merge or $out stage writes.
func targetOf(stage bson.D) string {
	switch v := stage[0].Value.(type) {
	case string:
		return v
	case bson.D:
		for _, e := range v {
			if e.Key == "into" || e.Key == "coll" {
				if s, ok := e.Value.(string); ok {
					return s
				}
				if d, ok := e.Value.(bson.D); ok {
					return targetOf(bson.D{{Key: "$out", Value: d}})
				}
			}
		}
	}
	return ""
}

// pipeline puts the filter before a collection's stages, and into those that read other collections.
func (p Policy) pipeline(collection string, stages mongo.Pipeline) (mongo.Pipeline, error) {
	var first mongo.Pipeline
	if p.holds(collection) && len(p.Filter) > 0 {
		if len(stages) > 0 && len(stages[0]) > 0 && mustBeFirst[stages[0][0].Key] {
			return nil, &ConflictError{Collection: collection, Reason: stages[0][0].Key + " must be first in its pipeline, and so must a policy's filter: put the filter into the stage"}
		}
		first = mongo.Pipeline{{{Key: "$match", Value: p.Filter}}}
	}
	rest, err := p.within(stages)
	return append(first, rest...), err
}

// within puts the filter into those stages that read other collections.
func (p Policy) within(stages mongo.Pipeline) (mongo.Pipeline, error) {
	out := make(mongo.Pipeline, len(stages))
	for i, s := range stages {
		var err error
		if out[i], err = p.stage(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mustBeFirst are stages before which no $match can stand.
var mustBeFirst = map[string]bool{
	"$geoNear": true, "$search": true, "$searchMeta": true, "$vectorSearch": true, "$changeStream": true,
	"$collStats": true, "$indexStats": true, "$planCacheStats": true, "$documents": true,
}

func (p Policy) stage(stage bson.D) (bson.D, error) {
	if len(stage) != 1 {
		return stage, nil // the server refuses it
	}
	name, value := stage[0].Key, stage[0].Value
	switch name {
	case "$unionWith":
		if s, ok := value.(string); ok {
			value = bson.D{{Key: "coll", Value: s}}
		}
	case "$lookup", "$graphLookup", "$facet":
	default:
		return stage, nil
	}
	args, ok := asDocument(value)
	if !ok {
		return nil, &ConflictError{Reason: "the argument of " + name + " must be a document"}
	}
	var err error
	switch name {
	case "$lookup":
		args, err = p.inner(args, "from")
	case "$unionWith":
		args, err = p.inner(args, "coll")
	case "$graphLookup":
		args, err = p.restrict(args)
	case "$facet":
		args, err = p.facet(args)
	}
	return bson.D{{Key: name, Value: args}}, err
}

// inner puts the filter into the stage's own pipeline.
func (p Policy) inner(args bson.D, key string) (bson.D, error) {
	out := slices.Clone(args)
	collection, isName := asString(valueOf(args, key))
	if from := valueOf(args, key); from != nil && !isName {
		return nil, &ConflictError{Reason: "a policy needs " + key + " to be a collection's name"}
	}
	at := slices.IndexFunc(out, func(e bson.E) bool { return e.Key == "pipeline" })
	var stages mongo.Pipeline
	if at >= 0 {
		var ok bool
		if stages, ok = asPipeline(out[at].Value); !ok {
			return nil, &ConflictError{Collection: collection, Reason: "the inner pipeline must be a list of documents"}
		}
	}
	stages, err := p.pipeline(collection, stages)
	if err != nil || len(stages) == 0 {
		return out, err
	}
	if at >= 0 {
		out[at].Value = stages
		return out, nil
	}
	return append(out, bson.E{Key: "pipeline", Value: stages}), nil
}

func (p Policy) restrict(args bson.D) (bson.D, error) {
	collection, ok := asString(valueOf(args, "from"))
	switch {
	case !ok:
		return nil, &ConflictError{Reason: "a policy needs $graphLookup's from to be a collection's name"}
	case !p.holds(collection) || len(p.Filter) == 0:
		return args, nil
	}
	const key = "restrictSearchWithMatch"
	out := slices.Clone(args)
	for i, e := range out {
		if e.Key != key {
			continue
		}
		d, ok := asDocument(e.Value)
		if !ok {
			return nil, &ConflictError{Collection: collection, Reason: key + " must be a document"}
		}
		out[i].Value = And(d, p.Filter)
		return out, nil
	}
	return append(out, bson.E{Key: key, Value: p.Filter}), nil
}

func (p Policy) facet(args bson.D) (bson.D, error) {
	out := slices.Clone(args)
	for i, e := range out {
		stages, ok := asPipeline(e.Value)
		if !ok {
			return nil, &ConflictError{Reason: "a facet must be a list of documents"}
		}
		for j, s := range stages {
			inner, err := p.stage(s)
			if err != nil {
				return nil, err
			}
			stages[j] = inner
		}
		out[i].Value = stages
	}
	return out, nil
}

// asPipeline returns a copy of a list of stages.
func asPipeline(v any) (mongo.Pipeline, bool) {
	switch v := v.(type) {
	case mongo.Pipeline:
		return slices.Clone(v), true
	case []bson.D:
		return slices.Clone(mongo.Pipeline(v)), true
	case bson.A:
		out := make(mongo.Pipeline, len(v))
		for i, s := range v {
			d, ok := asDocument(s)
			if !ok {
				return nil, false
			}
			out[i] = d
		}
		return out, true
	case bson.RawValue:
		arr, ok := v.ArrayOK()
		if !ok {
			return nil, false
		}
		values, err := arr.Values()
		list := make(bson.A, len(values))
		for i, e := range values {
			list[i] = e
		}
		stages, ok := asPipeline(list)
		return stages, ok && err == nil
	}
	return nil, false
}

func valueOf(d bson.D, key string) any {
	for _, e := range d {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}
