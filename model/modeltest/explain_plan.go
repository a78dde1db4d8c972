package modeltest

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongosh"
	"github.com/docmodel/docmodel/model"
)

// A queryPlan is what an explain reads: the indexes, and collections in full.
type queryPlan struct {
	scope   []string // the fields that a scope adds to filters: their bounds don't count
	indexes []string // read within bounds
	whole   []string // indexes that are read from end to end
	scoped  []string // indexes that only the scope's fields limit
	scans   []string // stages that read a collection
	sorts   bool     // the result is sorted in memory
	found   bool
}

// served reports whether any indexes serve the query.
func (p *queryPlan) served() bool {
	return p.found && len(p.scans) == 0 && len(p.whole) == 0 && len(p.scoped) == 0 && len(p.indexes) > 0
}

// unserved says why no index serves the query, or returns "". A missing collection needs
// no index.
func (p *queryPlan) unserved() string {
	switch {
	case !p.found:
		return "explain shows no plan"
	case len(p.scans) > 0:
		return fmt.Sprintf("the collection is scanned (%s)", strings.Join(p.scans, ", "))
	case len(p.whole) > 0:
		return fmt.Sprintf("index %s is read from end to end", strings.Join(p.whole, ", "))
	case len(p.scoped) > 0:
		return p.onlyScoped(strings.Join(p.scoped, ", "))
	}
	return ""
}

// problem says why the plan doesn't use the index, or returns "".
func (p *queryPlan) problem(index string) string {
	switch {
	case !p.found:
		return p.unserved()
	case len(p.scans) > 0:
		return p.unserved() + ", want index " + index
	case slices.Contains(p.indexes, index):
		return ""
	case slices.Contains(p.whole, index):
		return fmt.Sprintf("index %s is read from end to end", index)
	case slices.Contains(p.scoped, index):
		return p.onlyScoped(index)
	case len(p.indexes)+len(p.whole)+len(p.scoped) == 0:
		return "no index is read, want " + index
	}
	return fmt.Sprintf("served by %s, want %s", p.names(), index)
}

func (p *queryPlan) onlyScoped(index string) string {
	return fmt.Sprintf("index %s is limited only by the scope's fields %s", index, strings.Join(p.scope, ", "))
}

// names returns the indexes that the plan reads.
func (p *queryPlan) names() string {
	return strings.Join(slices.Concat(p.indexes, p.whole, p.scoped), ", ")
}

// readPlan reads an explain of the engine, of MongoDB 4.4 to 8, or of DocumentDB. The
// bounds of the scope's fields don't count as a limit.
func readPlan(reply bson.Raw, scope []string) *queryPlan {
	p := &queryPlan{scope: scope}
	p.look(reply)
	return p
}

// look searches an explain for plans: in queryPlanner, or deeper for pipelines and
// shards.
func (p *queryPlan) look(v bson.Raw) {
	elements, _ := v.Elements()
	for _, e := range elements {
		switch e.Key() {
		case "winningPlan":
			p.found = true
			each(e.Value(), p.mongo)
		case "Plan":
			p.found = true
			each(e.Value(), p.postgres)
		case "command", "rejectedPlans", "serverInfo", "parsedQuery", "serverParameters":
		default:
			each(e.Value(), p.look)
		}
	}
}

// each calls f for a document, or for each document in an array.
func each(v bson.RawValue, f func(bson.Raw)) {
	if d, ok := v.DocumentOK(); ok {
		f(d)
		return
	}
	array, ok := v.ArrayOK()
	if !ok {
		return
	}
	values, _ := array.Values()
	for _, item := range values {
		each(item, f)
	}
}

// mongo reads a stage of a MongoDB plan, and the stages below it.
func (p *queryPlan) mongo(stage bson.Raw) {
	name, _ := stage.Lookup("stage").StringValueOK()
	index, _ := stage.Lookup("indexName").StringValueOK()
	switch {
	case name == "COLLSCAN":
		p.scans = append(p.scans, name)
	case name == "IDHACK", name == "EXPRESS_CLUSTERED_IXSCAN", name == "CLUSTERED_IXSCAN":
		p.indexes = append(p.indexes, model.IDIndex)
	case index != "":
		bounds, _ := stage.Lookup("indexBounds").DocumentOK()
		p.read(index, p.limits(bounds))
	case name == "SORT":
		p.sorts = true
	}
	elements, _ := stage.Elements()
	for _, e := range elements {
		switch e.Key() {
		case "slotBasedPlan", "rejectedPlans", "indexBounds", "keyPattern", "filter":
		default:
			each(e.Value(), p.mongo)
		}
	}
}

// A limit says what limits the part of an index that a plan reads.
type limit int

const (
	byNothing limit = iota
	byScope         // only fields that the scope adds
	byQuery
)

// read adds an index that the plan reads.
func (p *queryPlan) read(index string, by limit) {
	switch by {
	case byNothing:
		p.whole = append(p.whole, index)
	case byScope:
		p.scoped = append(p.scoped, index)
	default:
		p.indexes = append(p.indexes, index)
	}
}

// limits returns what limits a range with these bounds: the first key that isn't the
// scope's decides.
func (p *queryPlan) limits(bounds bson.Raw) limit {
	by := byNothing
	elements, _ := bounds.Elements()
	for _, e := range elements {
		switch {
		case unbounded(e.Value()):
			return by
		case !slices.Contains(p.scope, e.Key()):
			return byQuery
		}
		by = byScope
	}
	if by == byScope {
		return by
	}
	return byQuery // explain shows no bounds
}

// unbounded reports whether the bounds of an index's key are open at both ends.
func unbounded(bounds bson.RawValue) bool {
	array, ok := bounds.ArrayOK()
	if !ok {
		return false
	}
	values, _ := array.Values()
	if len(values) != 1 {
		return false
	}
	s, _ := values[0].StringValueOK()
	return s == "[MinKey, MaxKey]" || s == "[MaxKey, MinKey]"
}

// postgres reads a node of a PostgreSQL plan, and the nodes below it. Reading a whole
// collection shows as a sequential scan, or as a scan of the _id index without another
// condition.
func (p *queryPlan) postgres(node bson.Raw) {
	kind, _ := node.Lookup("Node Type").StringValueOK()
	index, _ := node.Lookup("Index Name").StringValueOK()
	condition, _ := node.Lookup("Index Cond").StringValueOK()
	bounded := strings.Contains(condition, "object_id") || strings.Contains(condition, "document OPERATOR")
	switch {
	case kind == "Seq Scan":
		p.scans = append(p.scans, kind)
	case index == model.IDIndex && !bounded:
		p.scans = append(p.scans, kind+" of "+index+" on "+condition)
	case index != "":
		p.read(index, p.conditions(condition, bounded))
	}
	elements, _ := node.Elements()
	for _, e := range elements {
		if e.Key() == "Plans" {
			each(e.Value(), p.postgres)
		}
	}
}

// conditionValue finds the documents in a condition such as
// document OPERATOR(documentdb_api_catalog.@=) 'BSONHEX12…'::documentdb_core.bson.
var conditionValue = regexp.MustCompile(`BSONHEX([0-9a-f]+)`)

// conditions returns what limits an index scan with this condition.
func (p *queryPlan) conditions(condition string, bounded bool) limit {
	if !bounded {
		return byNothing
	}
	by := byQuery
	for _, m := range conditionValue.FindAllStringSubmatch(condition, -1) {
		raw, _ := hex.DecodeString(m[1])
		elements, _ := bson.Raw(raw).Elements()
		for _, e := range elements {
			if !slices.Contains(p.scope, e.Key()) {
				return byQuery
			}
			by = byScope
		}
	}
	return by
}

// planOf returns the part of an explain for failures.
func planOf(reply bson.Raw) string {
	for _, path := range [][]string{{"queryPlanner", "winningPlan"}, {"queryPlanner", "Plan"}, {"stages"}, {"shards"}} {
		if v, err := reply.LookupErr(path...); err == nil {
			return mongosh.Shorten(model.Shell(v), 2000)
		}
	}
	return mongosh.Shorten(model.Shell(reply), 2000)
}
