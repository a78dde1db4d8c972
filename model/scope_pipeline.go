package model

import (
	"cmp"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// merge adds the scope's filter to the step's reads and the scope's fields to its writes.
// It refuses a step that could write to a hidden document: see [MergeInto].
func (s *scope) merge(m MergeInto) MergeInto {
	if m.check() != nil {
		return m
	}
	s = s.collect(&m.used).withKeyed(m.Keyed)
	last := len(m.Pipeline) - 1
	args, _ := bsondoc.Document(m.Pipeline[last][0].Value)
	head, err := s.pipeline(m.Collection, m.Pipeline[:last])
	target, elsewhere := targetOf(m.Pipeline[last])
	s.use(target)
	m.used = alsoFirst(m.used, m.Collection)
	if err == nil {
		into, _ := bsondoc.Document(bsondoc.Value(args, "into"))
		err = cmp.Or(eachOnce(args), eachOnce(into), nothingHidden(target, args), s.reaches(target))
	}
	if err != nil {
		m.Err = err
		return m
	}
	switch {
	case elsewhere:
		m.Err = &ConflictError{
			Collection: target,
			Reason:     "a " + m.Pipeline[last][0].Key + " into another database can't run under a scope",
		}
		return m
	case s.holds(target) && len(s.filter) > 0 && !s.keepsOthers(target, m.Pipeline[last]):
		m.Err = &ConflictError{
			Collection: target,
			Reason: "a " + m.Pipeline[last][0].Key + " can't run under a scope's filter: " +
				"it could overwrite documents that the filter hides; leave the collection out of the scope's Collections, " +
				"give each tenant a collection of its own (Collection.Named), or also merge on the tenant's field, with a unique index",
		}
		return m
	}
	if fields := slices.Concat(s.insert, s.set); s.holds(target) && len(fields) > 0 {
		head = append(head, setStage(fields))
	}
	into := m.Pipeline[last]
	if s.isKeyed(target) {
		if !slices.ContainsFunc(head, isKeyTarget) {
			args = mergesKeyed(args)
			into = bson.D{{Key: into[0].Key, Value: pick[any](len(args) == 0, into[0].Value, args)}}
		}
		head = s.keyedTarget(head)
	}
	if s.holds(target) {
		into = s.ownAgain(into, args)
	}
	m.Pipeline = append(head, into)
	return m
}

// keepsOthers reports whether a last stage writes to no hidden document. This is true for
// a $merge that fails on existing documents. It is also true for a $merge that matches on
// the tenant, or on _ids that carry the tenant, if only the tenant hides documents.
func (s *scope) keepsOthers(target string, stage bson.D) bool {
	args, ok := bsondoc.Document(stage[0].Value)
	if stage[0].Key != "$merge" || !ok {
		return false
	}
	if how, _ := bsondoc.String(bsondoc.Value(args, "whenMatched")); how == "fail" {
		return true
	}
	on := namesIn(bsondoc.Value(args, "on"))
	if s.isKeyed(target) && bsondoc.EqualDocuments(s.filter, s.tenant) &&
		(len(on) == 0 || slices.Equal(on, []string{"_id"})) {
		return true
	}
	return len(s.tenant) > 0 && bsondoc.EqualDocuments(s.filter, s.tenant) &&
		!slices.ContainsFunc(s.tenant, func(e bson.E) bool { return !slices.Contains(on, e.Key) })
}

// namesIn returns the field names of a $merge's "on": one string, or a list of strings.
func namesIn(on any) (names []string) {
	switch list := on.(type) {
	case []string:
		return list
	case bson.A:
		for _, v := range list {
			names = append(names, namesIn(v)...)
		}
	default:
		if name, ok := bsondoc.String(on); ok {
			names = append(names, name)
		}
	}
	return names
}

// ownAgain changes a $merge so that its update of an existing document can't move it to
// another tenant.
func (s *scope) ownAgain(stage, args bson.D) bson.D {
	i := slices.IndexFunc(args, func(e bson.E) bool { return e.Key == "whenMatched" })
	if i < 0 || len(s.tenant) == 0 {
		return stage
	}
	update, ok := bsondoc.Pipeline(args[i].Value)
	if !ok {
		return stage
	}
	args = slices.Clone(args)
	args[i].Value = append(update, setStage(s.tenant))
	return bson.D{{Key: stage[0].Key, Value: args}}
}

// targetOf returns the collection that a $merge or $out writes, and whether the stage
// names a database.
func targetOf(stage bson.D) (collection string, elsewhere bool) {
	into := stage[0].Value
	if args, ok := bsondoc.Document(into); ok && stage[0].Key == "$merge" {
		into = bsondoc.Value(args, "into")
	}
	if name, ok := bsondoc.String(into); ok {
		return name, false
	}
	args, _ := bsondoc.Document(into)
	collection, _ = bsondoc.String(bsondoc.Value(args, "coll"))
	return collection, bsondoc.Value(args, "db") != nil
}

// pipeline puts the filter before a collection's stages and into stages that read other
// collections.
func (s *scope) pipeline(collection string, stages mongo.Pipeline) (mongo.Pipeline, error) {
	if err := s.reaches(collection); err != nil {
		return nil, err
	}
	s.use(collection)
	filtered := s.holds(collection) && len(s.filter) > 0
	if filtered && len(stages) > 0 && len(stages[0]) > 0 && mustBeFirst[stages[0][0].Key] {
		return nil, &ConflictError{
			Collection: collection,
			Reason: stages[0][0].Key +
				" must be first in its pipeline, and so must a scope's filter: put the filter into the stage",
		}
	}
	match, matches := matchOf(stages)
	if matches {
		if err := s.allows(collection, match); err != nil {
			return nil, err
		}
	}
	if s.isKeyed(collection) {
		stages = s.keyedPipeline(stages)
		match, matches = matchOf(stages)
	}
	rest, err := s.within(stages)
	switch {
	case !filtered:
		return rest, err
	case matches && err == nil && core.CheckDepth(match) == nil && searchesText(match):
		rest[0] = bson.D{{Key: "$match", Value: bsondoc.JoinFilters(match, s.filter)}}
		return rest, nil
	}
	return append(mongo.Pipeline{{{Key: "$match", Value: s.filter}}}, rest...), err
}

// matchOf returns the filter of a pipeline that begins with $match.
func matchOf(stages mongo.Pipeline) (bson.D, bool) {
	if len(stages) == 0 || len(stages[0]) != 1 || stages[0][0].Key != "$match" {
		return nil, false
	}
	return bsondoc.Document(stages[0][0].Value)
}

// searchesText reports whether a filter has a $text. The server accepts $text only in the
// first stage of a pipeline, so the scope's filter is added to this stage.
func searchesText(filter bson.D) bool {
	return slices.ContainsFunc(filter, func(e bson.E) bool {
		switch e.Key {
		case "$text":
			return true
		case "$and", "$or", "$nor":
			list, _ := bsondoc.Pipeline(e.Value)
			return slices.ContainsFunc(list, func(part bson.D) bool { return searchesText(part) })
		}
		return false
	})
}

// within puts the filter into stages that read other collections.
func (s *scope) within(stages mongo.Pipeline) (mongo.Pipeline, error) {
	out := make(mongo.Pipeline, 0, len(stages))
	for _, stage := range stages {
		var after mongo.Pipeline
		if args, ok := s.joinsKeyed(stage, "$lookup"); ok {
			out, args = s.lookedUp(out, args)
			stage = bson.D{{Key: "$lookup", Value: args}}
		}
		if args, ok := s.joinsKeyed(stage, "$graphLookup"); ok {
			args, after = s.graphed(args)
			stage = bson.D{{Key: "$graphLookup", Value: args}}
		}
		scoped, err := s.stage(stage)
		if err != nil {
			return nil, err
		}
		out = append(append(out, scoped), after...)
	}
	return out, nil
}

// mustBeFirst are stages that can't follow a $match.
var mustBeFirst = map[string]bool{
	"$geoNear": true, "$search": true, "$searchMeta": true, "$vectorSearch": true, "$changeStream": true,
	"$collStats": true, "$indexStats": true, "$planCacheStats": true, "$documents": true,
}

// stays are stages that read only their input documents.
var stays = map[string]bool{
	"$addFields": true, "$bucket": true, "$bucketAuto": true, "$count": true, "$densify": true, "$fill": true,
	"$geoNear": true, "$group": true, "$limit": true, "$match": true, "$project": true, "$redact": true,
	"$replaceRoot": true, "$replaceWith": true, "$sample": true, "$set": true, "$setWindowFields": true, "$skip": true,
	"$sort": true, "$sortByCount": true, "$unset": true, "$unwind": true,
}

func (s *scope) stage(stage bson.D) (bson.D, error) {
	if len(stage) != 1 {
		return stage, nil // the server refuses it
	}
	if err := nothingHidden("", stage); err != nil {
		return nil, err
	}
	name, value := stage[0].Key, stage[0].Value
	if name == "$unionWith" {
		if of, ok := value.(string); ok {
			value = bson.D{{Key: "coll", Value: of}}
		}
	}
	var apply func(bson.D) (bson.D, error)
	switch name {
	case "$lookup":
		apply = func(args bson.D) (bson.D, error) { return s.inner(args, "from") }
	case "$unionWith":
		apply = func(args bson.D) (bson.D, error) { return s.inner(args, "coll") }
	case "$graphLookup":
		apply = s.restrict
	case "$facet":
		apply = s.facet
	default:
		if !stays[name] {
			return nil, &ConflictError{
				Reason: name + " can't run under a scope: it may read documents of other collections",
			}
		}
		return stage, nil
	}
	args, ok := bsondoc.Document(value)
	if !ok {
		return nil, &ConflictError{Reason: "the argument of " + name + " must be a document"}
	}
	if err := eachOnce(args); err != nil {
		return nil, err
	}
	args, err := apply(args)
	return bson.D{{Key: name, Value: args}}, err
}

// eachOnce refuses a duplicate field. The server might read the second one, to which the
// scope wasn't applied.
func eachOnce(args bson.D) error {
	for i, e := range args {
		if bsondoc.HasKey(args[:i], e.Key) {
			return &ConflictError{
				Reason: e.Key + " is given twice, and the server reads only one of the two: give it once",
			}
		}
	}
	return nil
}

// inner puts the filter into the stage's inner pipeline.
func (s *scope) inner(args bson.D, key string) (bson.D, error) {
	out := slices.Clone(args)
	collection, isName := bsondoc.String(bsondoc.Value(args, key))
	if from := bsondoc.Value(args, key); from != nil && !isName {
		return nil, &ConflictError{Reason: "a scope needs " + key + " to be a collection's name"}
	}
	at := slices.IndexFunc(out, func(e bson.E) bool { return e.Key == "pipeline" })
	var stages mongo.Pipeline
	if at >= 0 {
		var ok bool
		if stages, ok = bsondoc.Pipeline(out[at].Value); !ok {
			return nil, &ConflictError{Collection: collection, Reason: "the inner pipeline must be a list of documents"}
		}
	}
	stages, err := s.pipeline(collection, stages)
	if err != nil || len(stages) == 0 {
		return out, err
	}
	if at >= 0 {
		out[at].Value = stages
		return out, nil
	}
	return append(out, bson.E{Key: "pipeline", Value: stages}), nil
}

func (s *scope) restrict(args bson.D) (bson.D, error) {
	collection, ok := bsondoc.String(bsondoc.Value(args, "from"))
	if !ok {
		return nil, &ConflictError{Reason: "a scope needs $graphLookup's from to be a collection's name"}
	}
	switch err := s.reaches(collection); {
	case err != nil:
		return nil, err
	case !s.holds(collection) || len(s.filter) == 0:
		return args, nil
	}
	s.use(collection)
	const key = "restrictSearchWithMatch"
	out := slices.Clone(args)
	for i, e := range out {
		if e.Key != key {
			continue
		}
		d, ok := bsondoc.Document(e.Value)
		if !ok {
			return nil, &ConflictError{Collection: collection, Reason: key + " must be a document"}
		}
		out[i].Value = bsondoc.JoinFilters(d, s.filter)
		return out, nil
	}
	return append(out, bson.E{Key: key, Value: s.filter}), nil
}

func (s *scope) facet(args bson.D) (bson.D, error) {
	out := slices.Clone(args)
	for i, e := range out {
		stages, ok := bsondoc.Pipeline(e.Value)
		if !ok {
			return nil, &ConflictError{Reason: "a facet must be a list of documents"}
		}
		inner, err := s.within(stages)
		if err != nil {
			return nil, err
		}
		out[i].Value = inner
	}
	return out, nil
}
