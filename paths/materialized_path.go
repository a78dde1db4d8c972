package paths

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MaterializedPath is a tree whose nodes hold their path from the root as a string: "clothing/men%2Fboys/shoes/". Each segment is
// escaped ([Escape]) and ends in a separator. Descendants of a node are one range of an index on the path, ancestors the prefixes of
// its path; a move or a rename rewrites the paths of the whole subtree, by one update.
//
// A node's segment is its _id, or a field of its own, such as a name; among the children of one parent it is unique, which the
// path's unique index holds to.
//
// Sources: "Materialized Paths" of https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/;
// https://www.mongodb.com/docs/manual/tutorial/model-tree-structures-with-materialized-paths/.
type MaterializedPath[D, K any] struct{ planner[D, K] }

// MaterializedPathSpec says in which fields a [MaterializedPath] is kept.
type MaterializedPathSpec struct {
	Links
	Path    string // a string; "" means "path"
	Segment string // a string, the node's own part of the path; "" means the _id, which is a string, an ObjectID or an integer
}

// NewMaterializedPath declares a tree by paths. It panics with a [*model.DeclarationError] when the documents don't have the fields,
// or have them with other types.
func NewMaterializedPath[D, K any](c *model.Collection[D, K], spec MaterializedPathSpec) *MaterializedPath[D, K] {
	t := declareTree(c, spec.Links, "MaterializedPath")
	p := &materializedPath{t, spec.Path, spec.Segment}
	if p.path == "" {
		p.path = "path"
	}
	for _, path := range []string{p.path, p.segment} {
		if path == "" {
			continue
		}
		if f := model.MustField(c, path); !f.Open && (f.Type.Kind() != reflect.String || f.Arrays > 0) {
			panic(&model.DeclarationError{Problem: fmt.Sprintf("%q is a %s, not a string", path, f.Type), Place: "NewMaterializedPath of " + c.Name(), Remedy: "name a string"})
		}
	}
	if id := model.MustField(c, "_id"); p.segment == "" && !id.Open && !isSegmentID(id.Type) {
		panic(&model.DeclarationError{Problem: fmt.Sprintf("an _id of type %s is no segment", id.Type), Place: "NewMaterializedPath of " + c.Name(), Remedy: "name a string field as Segment"})
	}
	t.fields = []string{p.path}
	if p.segment != "" {
		t.own = []string{p.segment}
	}
	index := model.NewIndex(t.docs, bson.D{{Key: p.path, Value: 1}})
	index.Unique, index.Why = true, "ancestors and descendants"
	t.indexes = append(t.indexes, index)
	t.rep = p
	return &MaterializedPath[D, K]{planner[D, K]{c, t}}
}

func isSegmentID(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int32, reflect.Int64:
		return true
	}
	return t == reflect.TypeFor[bson.ObjectID]()
}

// materializedPath is the core of [MaterializedPath].
type materializedPath struct {
	*tree
	path    string
	segment string
}

// of is a node's path, as its document says; "" for nil.
func (t *materializedPath) of(n *node) string {
	if n == nil {
		return ""
	}
	v, _ := model.ValueAt(n.raw, t.path)
	s, _ := v.StringValueOK()
	return s
}

func (t *materializedPath) sound(n node) error {
	if !strings.HasSuffix(t.of(&n), Separator) {
		return t.unsound(n, t.path)
	}
	return nil
}

// own is a node's segment, escaped.
func (t *materializedPath) own(n node) (string, error) {
	v := n.id
	if t.segment != "" {
		v, _ = model.ValueAt(n.raw, t.segment)
	}
	segment := ""
	switch v.Type {
	case bson.TypeString:
		segment = v.StringValue()
	case bson.TypeObjectID:
		segment = v.ObjectID().Hex()
	case bson.TypeInt32, bson.TypeInt64:
		segment = strconv.FormatInt(v.AsInt64(), 10)
	}
	return Escape(segment)
}

func (t *materializedPath) derive(n node, s spot) (bson.D, error) {
	segment, err := t.own(n)
	if err != nil {
		return nil, err
	}
	return bson.D{{Key: t.path, Value: t.of(s.parent) + segment + Separator}}, nil
}

// taken asks for another node that has the path.
func (t *materializedPath) taken(n node, s spot) bson.D {
	segment, err := t.own(n)
	if err != nil {
		return nil
	}
	return t.others(n, t.of(s.parent)+segment+Separator)
}

func (t *materializedPath) others(n node, path string) bson.D {
	return bson.D{{Key: t.path, Value: path}, {Key: "_id", Value: bson.D{{Key: "$ne", Value: n.id}}}}
}

func (t *materializedPath) removal(n node, change int64) []model.Step { return t.deleteOne(n, change) }

func (t *materializedPath) within(n, top node) (is, known bool) {
	return n.key() == top.key() || t.of(&top) != "" && strings.HasPrefix(t.of(&n), t.of(&top)), true
}

// prefix matches the paths that begin with one: a range of the index.
func (t *materializedPath) prefix(path string, self bool) bson.E {
	from := "$gte"
	if !self {
		from = "$gt"
	}
	end := path[:len(path)-1] + string(Separator[0]+1)
	return bson.E{Key: t.path, Value: bson.D{{Key: from, Value: path}, {Key: "$lt", Value: end}}}
}

// rebased puts another beginning in the place of an old one.
func (t *materializedPath) rebased(begin, old string) bson.E {
	path := "$" + t.path
	return bson.E{Key: t.path, Value: bson.D{{Key: "$concat", Value: bson.A{
		bson.D{{Key: "$literal", Value: begin}},
		bson.D{{Key: "$substrCP", Value: bson.A{path, utf8.RuneCountInString(old), bson.D{{Key: "$strLenCP", Value: path}}}}},
	}}}}
}

func (t *materializedPath) move(n node, s spot, change int64) []model.Step {
	if n.reorders(s) {
		return []model.Step{t.relink(n, s, change)}
	}
	old := t.of(&n)
	set := append(t.movedLinks(n, s, change), t.rebased(t.of(s.parent), parentPath(old)))
	return []model.Step{t.updateSubtree(t.indexes[1].Name, bson.D{t.prefix(old, true)}, set, change)}
}

// rename gives a node another segment.
func (t *materializedPath) rename(n node, segment string, change int64) []model.Step {
	old := t.of(&n)
	escaped, _ := Escape(segment)
	top := bson.D{{Key: "$eq", Value: bson.A{"$_id", bson.D{{Key: "$literal", Value: n.id}}}}}
	set := bson.D{
		{Key: t.links.Change, Value: change},
		t.rebased(parentPath(old)+escaped+Separator, old),
		{Key: t.segment, Value: bson.D{{Key: "$cond", Value: bson.A{top, bson.D{{Key: "$literal", Value: segment}}, "$" + t.segment}}}},
	}
	return []model.Step{t.updateSubtree(t.indexes[1].Name, bson.D{t.prefix(old, true)}, set, change)}
}

// dissolve deletes the node first: a child may come to have its path.
func (t *materializedPath) dissolve(n node, children []node, to []spot, change int64) []model.Step {
	old := t.of(&n)
	set := bson.D{{Key: t.links.Change, Value: change}, t.rebased(t.of(to[0].parent), old)}
	step := t.updateSubtree(t.indexes[1].Name, bson.D{t.prefix(old, false)}, set, change)
	return slices.Concat(t.deleteOne(n, change), []model.Step{step}, t.relinkAll(children, to, change))
}

func (t *materializedPath) prune(n node, _ []node, change int64) []model.Step {
	return []model.Step{t.deleteMany(t.indexes[1].Name, bson.D{t.prefix(t.of(&n), true)}, change)}
}

func (t *materializedPath) above(n node) source {
	return match(t.indexes[1].Name, bson.D{{Key: t.path, Value: bson.D{{Key: "$in", Value: prefixes(t.of(&n))}}}}, sortBy(t.path, 1))
}

// below counts the segments of each path for a depth, beside the range that the index serves.
func (t *materializedPath) below(n node, depth int) source {
	path := t.of(&n)
	filter := bson.D{t.prefix(path, false)}
	if depth > 0 {
		parts := bson.D{{Key: "$size", Value: bson.D{{Key: "$split", Value: bson.A{"$" + t.path, Separator}}}}} // one more than segments
		filter = append(filter, bson.E{Key: "$expr", Value: bson.D{{Key: "$lte", Value: bson.A{parts, strings.Count(path, Separator) + depth + 1}}}})
	}
	return match(t.indexes[1].Name, filter)
}

// parked is a path that no segments make, in which 25 or 2F follows each %.
func (t *materializedPath) parked(n node, _ bson.D) bson.D {
	return bson.D{{Key: t.path, Value: "%" + text(n.id)}}
}

// canonical leaves out nodes whose segments can't be in a path, and what lies below them.
func (t *materializedPath) canonical(f *Forest[string], nodes map[string]node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	var stack []string // "" where there is no path
	for id, depth := range f.All() {
		begin, whole := "", true
		if depth > 0 {
			begin = stack[depth-1]
			whole = begin != ""
		}
		segment, err := t.own(nodes[id])
		if stack = append(stack[:depth], ""); err == nil && whole {
			stack[depth] = begin + segment + Separator
			out[id] = bson.D{{Key: t.path, Value: stack[depth]}}
		}
	}
	return out
}

// fits says that a node's path is its parent's, and its own segment, escaped: so no node can be above itself.
func (t *materializedPath) fits() fitting {
	v := "$_id"
	if t.segment != "" {
		v = "$" + t.segment
	}
	segment := mql.Op("$cond", mql.Op("$in", mql.Op("$type", v), bson.A{"string", "objectId", "int", "long"}), mql.Op("$toString", v), nil)
	escaped := any(segment)
	for _, pair := range [][2]string{{"%", "%25"}, {"/", "%2F"}} {
		escaped = mql.Op("$replaceAll", bson.D{mql.E("input", escaped), mql.E("find", pair[0]), mql.E("replacement", pair[1])})
	}
	own, above := "$"+t.path, "$$up."+t.path
	isSegment := mql.Op("$gt", segment, "")
	return fitting{
		root: mql.Op("$and", isSegment, mql.Op("$eq", own, mql.Op("$concat", escaped, Separator))),
		child: mql.Op("$and", isSegment, mql.Op("$eq", mql.Op("$type", above), "string"),
			mql.Op("$eq", own, mql.Op("$concat", mql.Op("$cond", mql.Op("$eq", mql.Op("$type", above), "string"), above, ""), escaped, Separator))),
	}
}

// renamed is a node as if it had another segment.
func (t *materializedPath) renamed(n node, segment string) (node, error) {
	if t.segment == "" {
		return n, t.refused("segment", segment, "the segments are the _ids, which don't change")
	}
	var err error
	n.raw, err = model.SetFields(n.raw, bson.D{{Key: t.segment, Value: segment}})
	return n, err
}
