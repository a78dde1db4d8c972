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

// DeclareMaterializedPath declares a tree whose nodes store the path from the root. Its
// segments are the values of a string field; segment "" means the _ids. The unique index
// on the path refuses siblings with the same segment.
func DeclareMaterializedPath(d Declared, path, segment string) *Tree {
	t := d.declareTree("MaterializedPath")
	p := &materializedPath{t, cmp.Or(path, "path"), segment}
	for _, path := range []string{p.path, p.segment} {
		if path == "" {
			continue
		}
		if f := t.MustField(path); !f.Untyped && (f.Type.Kind() != reflect.String || f.Arrays > 0) {
			core.Fail(
				fmt.Sprintf("%q is of type %s, not a string", path, f.Type), "NewMaterializedPath of "+t.Collection,
				"name a field of a string type",
			)
		}
	}
	if id := t.MustField("_id"); p.segment == "" && !id.Untyped && !isSegmentID(id.Type) {
		core.Fail(
			fmt.Sprintf("an _id of type %s can't be a segment", id.Type), "NewMaterializedPath of "+t.Collection,
			"name a string field as Segment",
		)
	}
	t.fields = []string{p.path}
	if p.segment != "" {
		t.UserFields = []string{p.segment}
	}
	index := t.makeUniqueIndex(p.path)
	index.Why = "ancestors and descendants"
	t.Indexes = append(t.Indexes, index)
	t.Rep = p
	return t
}

// isSegmentID reports whether an _id of a Go type can be written in a path, and compared
// there by expressions of the server ($toString).
func isSegmentID(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int32, reflect.Int64:
		return true
	}
	return t == reflect.TypeFor[bson.ObjectID]()
}

// materializedPath is the representation of paths.NewMaterializedPath.
type materializedPath struct {
	*Tree
	path    string
	segment string
}

// readPath returns the stored path. A nil node, the parent of a root, has the path "".
func (t *materializedPath) readPath(n *Node) string {
	if n == nil {
		return ""
	}
	v, _ := core.ValueAt(n.Raw, t.path)
	s, _ := v.StringValueOK()
	return s
}

func (t *materializedPath) CheckStored(n Node) error {
	if !strings.HasSuffix(t.readPath(&n), separator) {
		return t.newUnsoundError(n, t.path)
	}
	return nil
}

// readSegment returns a node's segment, escaped for a path.
func (t *materializedPath) readSegment(n Node) (string, error) {
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
	return escapeSegment(segment)
}

func (t *materializedPath) deriveFields(n Node, s spot) (bson.D, error) {
	segment, err := t.readSegment(n)
	if err != nil {
		return nil, err
	}
	return bson.D{{Key: t.path, Value: t.readPath(s.parent) + segment + separator}}, nil
}

// matchConflict matches another node with the path. The unique index is the guarantee;
// this query gives the error before anything is written.
func (t *materializedPath) matchConflict(n Node, s spot) bson.D {
	segment, err := t.readSegment(n)
	if err != nil {
		return nil
	}
	return t.matchOtherNode(n, t.readPath(s.parent)+segment+separator)
}

// matchOtherNode matches documents with a path, except a node.
func (t *materializedPath) matchOtherNode(n Node, path string) bson.D {
	return bson.D{{Key: t.path, Value: path}, {Key: "_id", Value: mql.Op("$ne", n.ID)}}
}

func (t *materializedPath) planLeafDelete(n Node, change int64) []model.Step {
	return t.deleteByID(n, change)
}

// isWithin compares paths. The separator at the end of each path keeps "a/" from matching
// "ab/".
func (t *materializedPath) isWithin(n, top Node) (is, known bool) {
	return n.Key() == top.Key() || t.readPath(&top) != "" && strings.HasPrefix(t.readPath(&n), t.readPath(&top)), true
}

// matchPrefix matches the paths that begin with a path: one range of the index, whose end
// is the path with the character after the separator. self includes the path itself.
func (t *materializedPath) matchPrefix(path string, self bool) bson.E {
	from := "$gte"
	if !self {
		from = "$gt"
	}
	end := path[:len(path)-1] + string(separator[0]+1)
	return mql.E(t.path, bson.D{{Key: from, Value: path}, {Key: "$lt", Value: end}})
}

// rebasePath replaces the beginning old of each path. $substrCP counts code points, not
// bytes.
func (t *materializedPath) rebasePath(begin, old string) bson.E {
	path := "$" + t.path
	return bson.E{Key: t.path, Value: bson.D{{Key: "$concat", Value: bson.A{
		mql.Literal(begin),
		mql.Op("$substrCP", path, utf8.RuneCountInString(old), mql.Op("$strLenCP", path)),
	}}}}
}

// planMove writes a move among siblings as one document. Any other move is one update of
// the subtree. If it is cut, the nodes that were not reached have the old path, and the
// update, run again, finds exactly those.
func (t *materializedPath) planMove(n Node, s spot, change int64) []model.Step {
	if s.sameParent {
		return []model.Step{t.relinkNode(n, s, change)}
	}
	old := t.readPath(&n)
	set := append(t.setMovedLinks(n, s, change), t.rebasePath(t.readPath(s.parent), cutLastSegment(old)))
	return []model.Step{t.updateSubtree(t.Indexes[1].Name, bson.D{t.matchPrefix(old, true)}, set, change)}
}

// planRename is the update of a subtree whose top gets another segment.
func (t *materializedPath) planRename(n Node, segment string, change int64) []model.Step {
	old := t.readPath(&n)
	escaped, _ := escapeSegment(segment)
	top := mql.Op("$eq", "$_id", mql.Literal(n.ID))
	set := bson.D{
		{Key: t.Links.Change, Value: change},
		t.rebasePath(cutLastSegment(old)+escaped+separator, old),
		{Key: t.segment, Value: mql.Cond(top, mql.Literal(segment), "$"+t.segment)},
	}
	return []model.Step{t.updateSubtree(t.Indexes[1].Name, bson.D{t.matchPrefix(old, true)}, set, change)}
}

// planDissolve deletes the node first, because a child can come to have its path.
func (t *materializedPath) planDissolve(n Node, children []Node, to []spot, change int64) []model.Step {
	old := t.readPath(&n)
	set := bson.D{{Key: t.Links.Change, Value: change}, t.rebasePath(t.readPath(to[0].parent), old)}
	step := t.updateSubtree(t.Indexes[1].Name, bson.D{t.matchPrefix(old, false)}, set, change)
	return slices.Concat(t.deleteByID(n, change), []model.Step{step}, t.relinkNodes(children, to, change))
}

func (t *materializedPath) planSubtreeDelete(n Node, _ []Node, change int64) []model.Step {
	return []model.Step{t.deleteMatching(t.Indexes[1].Name, bson.D{t.matchPrefix(t.readPath(&n), true)}, change)}
}

// FindAncestors queries by the paths of the ancestors. Sorted by path, a root comes
// first.
func (t *materializedPath) FindAncestors(n Node) Source {
	return Match(
		t.Indexes[1].Name, bson.D{{Key: t.path, Value: mql.Op("$in", listAncestorPaths(t.readPath(&n)))}},
		sortByField(t.path, 1),
	)
}

// FindDescendants matches a range of the index. For a depth, it counts each path's
// segments.
func (t *materializedPath) FindDescendants(n Node, depth int) Source {
	path := t.readPath(&n)
	filter := bson.D{t.matchPrefix(path, false)}
	if depth > 0 {
		parts := mql.Op("$size", mql.Op("$split", "$"+t.path, separator)) // one more than segments
		filter = append(filter, mql.E("$expr", mql.Op("$lte", parts, strings.Count(path, separator)+depth+1)))
	}
	return Match(t.Indexes[1].Name, filter)
}

// ParkFields returns a path that no segments make: in an escaped segment, each % is
// followed by 25 or 2F.
func (t *materializedPath) ParkFields(n Node, _ bson.D) bson.D {
	return bson.D{{Key: t.path, Value: "%" + model.Shell(n.ID)}}
}

// ComputeFields leaves out nodes whose segments can't be in a path, and their
// descendants.
func (t *materializedPath) ComputeFields(f *forest.Forest[string], nodes map[string]Node) map[string]bson.D {
	out := make(map[string]bson.D, len(nodes))
	// Paths of the ancestors; "" for a node without a path.
	var stack []string
	for id, depth := range f.WalkAll() {
		begin, whole := "", true
		if depth > 0 {
			begin = stack[depth-1]
			whole = begin != ""
		}
		segment, err := t.readSegment(nodes[id])
		if stack = append(stack[:depth], ""); err == nil && whole {
			stack[depth] = begin + segment + separator
			out[id] = bson.D{{Key: t.path, Value: stack[depth]}}
		}
	}
	return out
}

// describeFitting says that a node's path is its parent's path and its own escaped
// segment. So no node can be its own ancestor. The expressions escape in the same order
// as escapeSegment.
func (t *materializedPath) describeFitting() fitting {
	v := "$_id"
	if t.segment != "" {
		v = "$" + t.segment
	}
	segment := mql.Op(
		"$cond", mql.Op("$in", mql.Op("$type", v), bson.A{"string", "objectId", "int", "long"}), mql.Op("$toString", v),
		nil,
	)
	escaped := any(segment)
	for _, pair := range [][2]string{{"%", "%25"}, {"/", "%2F"}} {
		escaped = mql.Op(
			"$replaceAll", bson.D{mql.E("input", escaped), mql.E("find", pair[0]), mql.E("replacement", pair[1])},
		)
	}
	own, above := "$"+t.path, "$$up."+t.path
	isSegment := mql.Op("$gt", segment, "")
	// $concat fails on a number, even where the other operands of $and are false.
	begin := mql.Op("$cond", mql.Op("$eq", mql.Op("$type", above), "string"), above, "")
	return fitting{
		root: mql.Op("$and", isSegment, mql.Op("$eq", own, mql.Op("$concat", escaped, separator))),
		child: mql.Op("$and", isSegment, mql.Op("$eq", mql.Op("$type", above), "string"),
			mql.Op("$eq", own, mql.Op("$concat", begin, escaped, separator))),
	}
}

// setSegment returns a node as if it had another segment.
func (t *materializedPath) setSegment(n Node, segment string) (Node, error) {
	if t.segment == "" {
		return n, t.Refuse("segment", segment, "can't be changed: the segments are the _ids")
	}
	var err error
	n.Raw, err = core.SetFields(n.Raw, bson.D{{Key: t.segment, Value: segment}})
	return n, err
}
