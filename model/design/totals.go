package design

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// total is a number made of a parent's children: their count, or the sum, minimum or
// maximum of a field.
type total struct {
	rel   *relation
	op    string // "count", "sum", "min" or "max"
	field *Field // nil for a count
}

var totalOps = []string{"count", "sum", "min", "max"}

// path is the parent's field for the total: bidsCount, bidsMaxPrice.
func (t total) path() string {
	if t.field == nil {
		return t.rel.List + exported(t.op)
	}
	return t.rel.List + exported(t.op) + exported(t.field.Name)
}

// totalOf reads "count(bids)" or "max(bids.price)". It returns false for a plain path.
func (g *graph) totalOf(e *entity, s, at string) (t total, ok bool, err error) {
	op, rest, ok := strings.Cut(s, "(")
	if !ok || !slices.Contains(totalOps, op) || !strings.HasSuffix(rest, ")") {
		return t, false, nil
	}
	list, field, _ := strings.Cut(strings.TrimSuffix(rest, ")"), ".")
	t = total{rel: e.listBy(list), op: op}
	if t.rel == nil {
		return t, true, g.refuse(at, s, fmt.Sprintf("%s have no children of this name", e.Name))
	}
	t.field = t.rel.child.field(field)
	switch {
	case op == "count" && field != "":
		return t, true, g.refuse(at, s, "a count has no field")
	case op != "count" && (t.field == nil || t.field.Text > 0):
		return t, true, g.refuse(at, s, fmt.Sprintf("must name a number of %s", t.rel.Child))
	}
	return t, true, nil
}

// totals returns the totals of a relation that operations show, each once.
func (g *graph) totals(r *relation) (out []total) {
	for _, list := range g.accesses {
		for _, a := range list {
			for _, t := range a.totals {
				if t.rel == r && !slices.Contains(out, t) {
					out = append(out, t)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b total) int { return strings.Compare(a.path(), b.path()) })
	return out
}

// counted returns the relations whose totals an access shows.
func (a *access) counted() (out []*relation) {
	for _, t := range a.totals {
		if !slices.Contains(out, t.rel) {
			out = append(out, t.rel)
		}
	}
	return out
}

// counterSpec returns the spec of the counter for a relation's totals.
func (g *graph) counterSpec(r *relation) counter.Spec {
	spec := counter.Spec{}
	for _, t := range g.totals(r) {
		switch t.op {
		case "count":
			spec.Count = t.path()
		case "sum":
			spec.Sums = append(spec.Sums, counter.Field{From: t.field.Name, To: t.path()})
		case "min":
			spec.Mins = append(spec.Mins, counter.Field{From: t.field.Name, To: t.path()})
		default:
			spec.Maxs = append(spec.Maxs, counter.Field{From: t.field.Name, To: t.path()})
		}
	}
	return spec
}

// of computes the total of some children.
func (t total) of(children []doc) (sum int64, ok bool) {
	for i, d := range children {
		v := int64(1)
		if t.field != nil {
			v, _ = at(d, t.field.Name).(int64)
		}
		switch {
		case t.op == "count" || t.op == "sum":
			sum += v
		case i == 0:
			sum = v
		case t.op == "min":
			sum = min(sum, v)
		default:
			sum = max(sum, v)
		}
	}
	return sum, len(children) > 0 || t.op == "count" || t.op == "sum"
}

// answers are the totals that a read shows, by the parent's _id and the total's path.
// Zero and missing totals are omitted.
type answers map[string]int64

func (a answers) set(parent id, t total, v any) {
	var n int64
	switch v := v.(type) {
	case int32:
		n = int64(v)
	case int64:
		n = v
	}
	if n != 0 {
		a[parent.Hex()+" "+t.path()] = n
	}
}

// total returns the totals of found documents: from the documents, from their lists, or
// by a query.
func (x *work) total(a *access, l *lookup, rows []row) (answers, error) {
	out := answers{}
	for _, r := range a.counted() {
		st := x.storage(r)
		list := st.As == Embedded || x.listed(r)
		for _, row := range rows {
			parent, _ := row.doc[0].Value.(id)
			for _, t := range a.totals {
				switch {
				case t.rel != r:
				case st.Totals:
					out.set(parent, t, at(row.doc, t.path()))
				case list:
					if v, ok := t.of(childDocs(row.doc, r)); ok {
						out.set(parent, t, v)
					}
				}
			}
		}
		if st.Totals || list && (st.As == Embedded || onlyCounts(a, r)) {
			continue
		}
		if err := x.totalChildren(a, r, l, rows, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// onlyCounts reports whether an access shows only the number of a relation's children.
func onlyCounts(a *access, r *relation) bool {
	return !slices.ContainsFunc(a.totals, func(t total) bool { return t.rel == r && t.field != nil })
}

// childDocs returns the children in a parent's list; for a list of _ids, empty documents.
func childDocs(d doc, r *relation) (out []doc) {
	list, _ := at(d, r.List).(bson.A)
	for _, e := range list {
		child, _ := e.(bson.D)
		out = append(out, child)
	}
	return out
}

// totalChildren queries the totals of some parents' children.
func (x *work) totalChildren(a *access, r *relation, l *lookup, rows []row, out answers) error {
	if x.listed(r) {
		return x.totalListed(a, r, l, rows, out)
	}
	ids := x.db.parents(r, "_id", rows, l.wanted)
	if len(ids) == 0 {
		return nil
	}
	host := x.host(r.child)
	if err := x.sendTo(host); err != nil {
		return err
	}
	w := expected{n: l.wanted * min(1, r.average()), some: l.some, scanned: l.wanted * r.average()}
	q := x.totalQuery(a, r, ids, &w)
	q.Options.BatchSize = batch
	found, err := x.db.aggregate(q, host, w)
	for _, d := range found {
		parent, _ := d[0].Value.(id)
		for _, t := range a.totals {
			if name := t.path(); t.rel == r {
				if v := at(d, name); v != nil {
					out.set(parent, t, v)
				} else if t.field == nil {
					out.set(parent, t, at(d, "n")) // as parentref.ParentRef counts
				}
			}
		}
	}
	return err
}

// totalListed reads the children that some parents list, for totals of their fields.
func (x *work) totalListed(a *access, r *relation, l *lookup, rows []row, out answers) error {
	ids := x.db.listed(r, rows, l.wanted*r.average())
	if len(ids) == 0 {
		return nil
	}
	q := x.own[r.child].Find(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	var fields []string
	for _, t := range a.totals {
		if t.rel == r && t.field != nil && !slices.Contains(fields, t.field.Name) {
			fields = append(fields, t.field.Name)
		}
	}
	w := expected{n: l.wanted * r.average(), some: l.some, byID: true, bytes: x.only(q, r.child, fields...)}
	children, err := x.find(q, r.child, w)
	for _, row := range rows {
		parent, _ := row.doc[0].Value.(id)
		list, _ := at(row.doc, r.List).(bson.A)
		mine := slices.DeleteFunc(slices.Clone(children), func(d doc) bool { return !slices.Contains(list, d[0].Value) })
		for _, t := range a.totals {
			if v, ok := t.of(mine); t.rel == r && t.field != nil && ok {
				out.set(parent, t, v)
			}
		}
	}
	return err
}

// totalQuery is the pipeline that computes the totals of children by parent.
func (x *work) totalQuery(a *access, r *relation, ids []id, w *expected) *model.Aggregate[doc] {
	home := x.home[r.child]
	if home == nil && !r.many() && onlyCounts(a, r) {
		return &model.Aggregate[doc]{Aggregation: x.refs[r].Counts(ids...).Aggregation}
	}
	path, list, prefix := x.key(r), r.Field, ""
	if w.loaded = w.scanned; home != nil { // the children are embedded in documents of another parent
		path, list, prefix = home.List+"."+path, home.List, home.List+"."
		w.loaded = home.distinct(w.scanned)
	}
	match := bson.D{{Key: "$match", Value: bson.D{{Key: path, Value: bson.D{{Key: "$in", Value: ids}}}}}}
	pipeline := mongo.Pipeline{match}
	if home != nil || r.many() {
		pipeline = append(pipeline, bson.D{{Key: "$unwind", Value: "$" + list}}, match)
	}
	group := bson.D{{Key: "_id", Value: "$" + path}}
	for _, t := range a.totals {
		switch {
		case t.rel != r:
		case t.field == nil:
			group = append(group, bson.E{Key: t.path(), Value: bson.D{{Key: "$sum", Value: 1}}})
		default:
			group = append(group, bson.E{Key: t.path(), Value: bson.D{{Key: "$" + t.op, Value: "$" + prefix + t.field.Name}}})
		}
	}
	return model.AggregateAs[doc](x.own[x.host(r.child)], append(pipeline, bson.D{{Key: "$group", Value: group}}))
}
