package tree

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Paths declares a tree whose nodes hold their path from the root, of segments that are their _ids where segment is "".
func Paths(d Declared, path, segment string) *Tree {
	t := d.tree("MaterializedPath")
	p := &materializedPath{t, cmp.Or(path, "path"), segment}
	for _, path := range []string{p.path, p.segment} {
		if path == "" {
			continue
		}
		if f := t.MustField(path); !f.Open && (f.Type.Kind() != reflect.String || f.Arrays > 0) {
			core.Fail(fmt.Sprintf("%q is of type %s, not a string", path, f.Type), "NewMaterializedPath of "+t.Collection, "name a field of a string type")
		}
	}
	if id := t.MustField("_id"); p.segment == "" && !id.Open && !isSegmentID(id.Type) {
		core.Fail(fmt.Sprintf("an _id of type %s can't be a segment", id.Type), "NewMaterializedPath of "+t.Collection, "name a string field as Segment")
	}
	t.fields = []string{p.path}
	if p.segment != "" {
		t.Own = []string{p.segment}
	}
	index := t.uniqueIndex(p.path)
	index.Why = "ancestors and descendants"
	t.Indexes = append(t.Indexes, index)
	t.Rep = p
	return t
}

func isSegmentID(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int32, reflect.Int64:
		return true
	}
	return t == reflect.TypeFor[bson.ObjectID]()
}

// materializedPath is what [NewMaterializedPath] declares, without types.
type materializedPath struct {
	*Tree
	path    string
	segment string
}

// of is a node's path, as its document says; "" for nil.
func (t *materializedPath) of(n *Node) string {
	if n == nil {
		return ""
	}
	v, _ := core.ValueAt(n.Raw, t.path)
	s, _ := v.StringValueOK()
	return s
}

func (t *materializedPath) Sound(n Node) error {
	if !strings.HasSuffix(t.of(&n), separator) {
		return t.unsound(n, t.path)
	}
	return nil
}

// own is a node's segment, escaped.
func (t *materializedPath) own(n Node) (string, error) {
	v := n.ID
	if t.segment != "" {
		v, _ = core.ValueAt(n.Raw, t.segment)
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
	return escape(segment)
}

func (t *materializedPath) derive(n Node, s spot) (bson.D, error) {
	segment, err := t.own(n)
	if err != nil {
		return nil, err
	}
	return bson.D{{Key: t.path, Value: t.of(s.parent) + segment + separator}}, nil
}

// taken asks for another node that has the path.
func (t *materializedPath) taken(n Node, s spot) bson.D {
	segment, err := t.own(n)
	if err != nil {
		return nil
	}
	return t.others(n, t.of(s.parent)+segment+separator)
}

func (t *materializedPath) others(n Node, path string) bson.D {
	return bson.D{{Key: t.path, Value: path}, {Key: "_id", Value: mql.Op("$ne", n.ID)}}
}

func (t *materializedPath) removal(n Node, change int64) []model.Step { return t.deleteOne(n, change) }

func (t *materializedPath) within(n, top Node) (is, known bool) {
	return n.Key() == top.Key() || t.of(&top) != "" && strings.HasPrefix(t.of(&n), t.of(&top)), true
}

// prefix matches the paths that begin with one: a range of the index.
func (t *materializedPath) prefix(path string, self bool) bson.E {
	from := "$gte"
	if !self {
		from = "$gt"
	}
	end := path[:len(path)-1] + string(separator[0]+1)
	return mql.E(t.path, bson.D{{Key: from, Value: path}, {Key: "$lt", Value: end}})
}

// rebased puts another beginning in the place of an old one.
func (t *materializedPath) rebased(begin, old string) bson.E {
	path := "$" + t.path
	return bson.E{Key: t.path, Value: bson.D{{Key: "$concat", Value: bson.A{
		mql.Literal(begin),
		mql.Op("$substrCP", path, utf8.RuneCountInString(old), mql.Op("$strLenCP", path)),
	}}}}
}

func (t *materializedPath) move(n Node, s spot, change int64) []model.Step {
	if s.among {
		return []model.Step{t.relink(n, s, change)}
	}
	old := t.of(&n)
	set := append(t.movedLinks(n, s, change), t.rebased(t.of(s.parent), parentPath(old)))
	return []model.Step{t.updateSubtree(t.Indexes[1].Name, bson.D{t.prefix(old, true)}, set, change)}
}

// rename gives a node another segment.
func (t *materializedPath) rename(n Node, segment string, change int64) []model.Step {
	old := t.of(&n)
	escaped, _ := escape(segment)
	top := mql.Op("$eq", "$_id", mql.Literal(n.ID))
	set := bson.D{
		{Key: t.Links.Change, Value: change},
		t.rebased(parentPath(old)+escaped+separator, old),
		{Key: t.segment, Value: mql.Cond(top, mql.Literal(segment), "$"+t.segment)},
	}
	return []model.Step{t.updateSubtree(t.Indexes[1].Name, bson.D{t.prefix(old, true)}, set, change)}
}

// dissolve deletes the node first: a child may come to have its path.
func (t *materializedPath) dissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	old := t.of(&n)
	set := bson.D{{Key: t.Links.Change, Value: change}, t.rebased(t.of(to[0].parent), old)}
	step := t.updateSubtree(t.Indexes[1].Name, bson.D{t.prefix(old, false)}, set, change)
	return slices.Concat(t.deleteOne(n, change), []model.Step{step}, t.relinkAll(children, to, change))
}

func (t *materializedPath) prune(n Node, _ []Node, change int64) []model.Step {
	return []model.Step{t.deleteMany(t.Indexes[1].Name, bson.D{t.prefix(t.of(&n), true)}, change)}
}

func (t *materializedPath) Above(n Node) Source {
	return Match(t.Indexes[1].Name, bson.D{{Key: t.path, Value: mql.Op("$in", prefixes(t.of(&n)))}}, sortBy(t.path, 1))
}

// Below counts the segments of each path for a depth, beside the range that the index serves.
func (t *materializedPath) Below(n Node, depth int) Source {
	path := t.of(&n)
	filter := bson.D{t.prefix(path, false)}
	if depth > 0 {
		parts := mql.Op("$size", mql.Op("$split", "$"+t.path, separator)) // one more than segments
		filter = append(filter, mql.E("$expr", mql.Op("$lte", parts, strings.Count(path, separator)+depth+1)))
	}
	return Match(t.Indexes[1].Name, filter)
}

// Parked is a path that no segments make, in which 25 or 2F follows each %.
func (t *materializedPath) Parked(n Node, _ bson.D) bson.D {
	return bson.D{{Key: t.path, Value: "%" + model.Shell(n.ID)}}
}

// Canonical leaves out nodes whose segments can't be in a path, and what lies below them.
func (t *materializedPath) Canonical(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
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
			stack[depth] = begin + segment + separator
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
		root: mql.Op("$and", isSegment, mql.Op("$eq", own, mql.Op("$concat", escaped, separator))),
		child: mql.Op("$and", isSegment, mql.Op("$eq", mql.Op("$type", above), "string"),
			mql.Op("$eq", own, mql.Op("$concat", mql.Op("$cond", mql.Op("$eq", mql.Op("$type", above), "string"), above, ""), escaped, separator))),
	}
}

// renamed is a node as if it had another segment.
func (t *materializedPath) renamed(n Node, segment string) (Node, error) {
	if t.segment == "" {
		return n, t.Refuse("segment", segment, "can't be changed: the segments are the _ids")
	}
	var err error
	n.Raw, err = core.SetFields(n.Raw, bson.D{{Key: t.segment, Value: segment}})
	return n, err
}
