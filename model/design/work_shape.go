package design

import (
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// shown returns the lists of a document that the operation needs.
func (x *work) shown(e *entity, name string) (lists []string) {
	for _, a := range x.accesses[x.at] {
		if a.Do != Read {
			continue
		}
		if l := x.lookups[a]; l.host == e && l.byID == name {
			lists = append(lists, x.listsOf(a, l)...)
		}
	}
	return lists
}

// listsOf returns the lists of the host's documents that an access needs: that of its own
// documents, and those it counts.
func (x *work) listsOf(a *access, l lookup) (lists []string) {
	if l.list != "" {
		lists = append(lists, l.list)
	}
	for _, r := range a.counted() {
		if x.storage(r).As == Embedded {
			lists = append(lists, r.List)
		}
	}
	return lists
}

// without excludes embedded lists from a query's result, except shown ones. It returns
// the bytes of one document.
func (x *work) without(q *model.Find[doc], e *entity, shown []string) float64 {
	z := x.sizes[e]
	bytes := z.average
	for _, r := range e.children {
		if n, ok := z.lists[r.List]; ok && !slices.Contains(shown, r.List) {
			q.Projection = append(q.Projection, bson.E{Key: r.List, Value: 0})
			bytes -= n
		}
	}
	return bytes
}

// only restricts a query's result to some paths and the _id. It returns the bytes of one
// document.
func (x *work) only(q *model.Find[doc], e *entity, paths ...string) float64 {
	bytes := 0.
	var some doc
	example := x.document(exampleWorld, e, 0)
	if !slices.Contains(paths, "_id") {
		paths = append([]string{"_id"}, paths...)
	}
	for _, p := range paths {
		q.Projection = append(q.Projection, bson.E{Key: p, Value: 1})
		if n, ok := x.sizes[e].lists[p]; ok {
			bytes += n
		} else if v := at(example, p); v != nil {
			some = put(some, p, v)
		}
	}
	n, err := sizeOf(some)
	if err != nil {
		return bytes
	}
	return bytes + n
}
