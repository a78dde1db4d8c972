package design

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// at returns the value at a path of a document. The path crosses no array.
func at(d doc, path string) any {
	first, rest, deeper := strings.Cut(path, ".")
	for _, e := range d {
		if e.Key != first {
			continue
		}
		if !deeper {
			return e.Value
		}
		within, _ := e.Value.(bson.D)
		return at(within, rest)
	}
	return nil
}

// idsAt returns the _ids at a path, which may be or cross a list.
func idsAt(d doc, path string) (out []id) {
	first, rest, _ := strings.Cut(path, ".")
	switch v := at(d, path).(type) {
	case id:
		return []id{v}
	case bson.A:
		for _, one := range v {
			if one, ok := one.(id); ok {
				out = append(out, one)
			}
		}
		return out
	}
	list, _ := at(d, first).(bson.A)
	for _, one := range list {
		if one, ok := one.(bson.D); ok {
			out = append(out, idsAt(one, rest)...)
		}
	}
	return out
}

// put sets the value at a path.
func put(d doc, path string, v any) doc {
	first, rest, deeper := strings.Cut(path, ".")
	k := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == first })
	if k < 0 {
		d, k = append(d, bson.E{Key: first}), len(d)
	}
	if deeper {
		within, _ := d[k].Value.(bson.D)
		v = put(within, rest, v)
	}
	d[k].Value = v
	return d
}

// row is a found document, and the document around it.
type row struct{ doc, host doc }

// rows returns the documents of an access among those that were read.
func (x *work) rows(l *lookup, found []doc, asked bson.D) []row {
	if l.list != "" {
		return elements(found, l.list, asked)
	}
	return rowsOf(found)
}

func rowsOf(found []doc) []row {
	out := make([]row, len(found))
	for i, d := range found {
		out[i].doc = d
	}
	return out
}

// elements returns the elements of a list that match the conditions: values, $in and
// $gte.
func elements(docs []doc, list string, asked bson.D) (out []row) {
	for _, d := range docs {
		all, _ := at(d, list).(bson.A)
		for _, v := range all {
			if e, ok := v.(bson.D); ok && meets(e, asked) {
				out = append(out, row{e, d})
			}
		}
	}
	return out
}

// finish applies what the query couldn't: a range on a parent's field, the order, the
// limit.
func (x *work) finish(l *lookup, rows []row, parents map[*relation][]doc) []row {
	a := l.access
	by := a.order
	if a.since != nil {
		by = a.since
		e := a.of
		if by.rel != nil {
			e = by.rel.parent
		}
		least := x.db.since(e, by.field, a.Share)
		rows = slices.DeleteFunc(rows, func(r row) bool { return less(x.valueOf(*by, r, parents), least) })
	}
	if by != nil {
		slices.SortStableFunc(rows, func(r, o row) int {
			v, w := x.valueOf(*by, r, parents), x.valueOf(*by, o, parents)
			if less(w, v) {
				return -1
			}
			if less(v, w) {
				return 1
			}
			return strings.Compare(hex(o.doc), hex(r.doc))
		})
	}
	if a.Limit > 0 && int64(len(rows)) > a.Limit {
		rows = rows[:a.Limit]
	}
	return rows
}

func hex(d doc) string {
	one, _ := d[0].Value.(id)
	return one.Hex()
}

// valueOf returns the value of a field of a row, or of its parent.
func (x *work) valueOf(p path, r row, parents map[*relation][]doc) any {
	switch {
	case p.rel == nil:
		return at(r.doc, p.name)
	case p.rel == x.home[p.rel.child]:
		return at(r.host, p.name)
	case x.copied(p.rel, p.name) != "":
		if v := at(r.doc, x.copied(p.rel, p.name)); v != nil {
			return v // a subset of the children has no copies
		}
	}
	k := slices.IndexFunc(parents[p.rel], func(d doc) bool {
		if x.listed(p.rel) {
			list, _ := at(d, p.rel.List).(bson.A)
			return slices.Contains(list, r.doc[0].Value)
		}
		return d[0].Value == at(r.doc, x.key(p.rel))
	})
	if k < 0 {
		return nil
	}
	return at(parents[p.rel][k], p.name)
}

// less compares two values of one field. A missing value is the least.
func less(a, b any) bool {
	if s, ok := a.(string); ok {
		t, _ := b.(string)
		return s < t
	}
	m, ok := a.(int64)
	n, _ := b.(int64)
	return !ok || m < n
}

func meets(e doc, asked bson.D) bool {
	for _, c := range asked {
		have := at(e, c.Key)
		op, ok := c.Value.(bson.D)
		switch {
		case !ok:
			if have != c.Value {
				return false
			}
		case op[0].Key == "$in":
			ids, _ := op[0].Value.([]id)
			if one, ok := have.(id); !ok || !slices.Contains(ids, one) {
				return false
			}
		case op[0].Key == "$gte":
			if less(have, op[0].Value) {
				return false
			}
		}
	}
	return true
}
