package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
)

// neededIndexes returns the keys of indexes that would serve a command, by the rule of
// MongoDB's manual: first fields compared for equality, then the sort, then ranges. An
// $or needs an index for each branch. A command without a field, or with _id by value,
// needs none.
func neededIndexes(command bson.D) []bson.D {
	filter, sort, key := lookedUp(command)
	var out []bson.D
	for _, n := range needsOf(filter) {
		keys := n.keys(sort, key)
		if len(keys) > 0 && (keys[0].Key != "_id" || !slices.Contains(n.equal, "_id")) &&
			!(len(keys) == 1 && keys[0].Key == "_id") &&
			!slices.ContainsFunc(out, func(d bson.D) bool { return sameKeys(d, keys) }) {
			out = append(out, keys)
		}
	}
	return out
}

// lookedUp returns a command's filter and sort, and the field of a distinct.
func lookedUp(command bson.D) (filter, sort bson.D, key string) {
	for _, e := range command {
		d, _ := e.Value.(bson.D)
		list, _ := e.Value.(bson.A)
		switch e.Key {
		case "filter", "query":
			filter = d
		case "sort":
			sort = d
		case "key":
			key, _ = e.Value.(string)
		case "pipeline":
			filter, sort = leading(list)
		case "updates", "deletes":
			if len(list) > 0 {
				statement, _ := list[0].(bson.D)
				return lookedUp(bson.D{
					{Key: "filter", Value: field(statement, "q")}, {Key: "sort", Value: field(statement, "sort")},
				})
			}
		}
	}
	return filter, sort, key
}

func field(d bson.D, key string) any {
	for _, e := range d {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// leading returns the filter and sort at the beginning of a pipeline.
func leading(stages bson.A) (filter, sort bson.D) {
	var all bson.A
	for _, s := range stages {
		stage, _ := s.(bson.D)
		if len(stage) != 1 {
			break
		}
		d, _ := stage[0].Value.(bson.D)
		if stage[0].Key == "$match" {
			all = append(all, d)
			continue
		}
		if stage[0].Key == "$sort" {
			sort = d
		}
		break
	}
	return bson.D{{Key: "$and", Value: all}}, sort
}

// needs are the fields by which one branch of a filter finds documents.
type needs struct{ equal, ranges []string }

const mostBranches = 100 // of an $or, which are examined

// needsOf returns the needs of each branch of a filter.
func needsOf(filter bson.D) []needs {
	n := needs{}
	var or bson.A
	n.read("", filter, &or)
	if len(or) == 0 {
		return []needs{n}
	}
	var out []needs
	for _, branch := range or[:min(len(or), mostBranches)] {
		d, _ := branch.(bson.D)
		for _, b := range needsOf(d) {
			out = append(out, needs{union(n.equal, b.equal), union(n.ranges, b.ranges)})
		}
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// read adds the fields of a filter at the prefix. It returns the branches of the first
// $or in or.
func (n *needs) read(prefix string, filter bson.D, or *bson.A) {
	for _, e := range filter {
		switch {
		case e.Key == "$and":
			list, _ := e.Value.(bson.A)
			for _, part := range list {
				d, _ := part.(bson.D)
				n.read(prefix, d, or)
			}
		case e.Key == "$or" && prefix == "" && len(*or) == 0:
			*or, _ = e.Value.(bson.A)
		case strings.HasPrefix(e.Key, "$"):
		default:
			n.condition(prefix+e.Key, e.Value, or)
		}
	}
}

// inAsEquality is the number of $in values up to which MongoDB seeks each value and still
// returns a sorted result.
const inAsEquality = 200

// condition adds a field by its comparison.
func (n *needs) condition(path string, v any, or *bson.A) {
	operators, ok := v.(bson.D)
	if !ok || len(operators) == 0 || !strings.HasPrefix(operators[0].Key, "$") {
		if _, pattern := v.(bson.Regex); pattern {
			n.ranges = union(n.ranges, []string{path})
			return
		}
		n.equal = union(n.equal, []string{path})
		return
	}
	for _, op := range operators {
		switch op.Key {
		case "$eq", "$all":
			n.equal = union(n.equal, []string{path})
		case "$in":
			list, _ := op.Value.(bson.A)
			if len(list) <= inAsEquality {
				n.equal = union(n.equal, []string{path})
			} else {
				n.ranges = union(n.ranges, []string{path})
			}
		case "$gt", "$gte", "$lt", "$lte", "$ne", "$nin", "$exists", "$type", "$regex", "$not", "$mod":
			n.ranges = union(n.ranges, []string{path})
		case "$elemMatch":
			d, _ := op.Value.(bson.D)
			if len(d) > 0 && strings.HasPrefix(d[0].Key, "$") && d[0].Key != "$and" && d[0].Key != "$or" {
				n.condition(path, d, or)
			} else {
				n.read(path+".", d, or)
			}
		}
	}
}

// keys returns an index's keys: equality, sort, range. A repeated field keeps its first
// place.
func (n *needs) keys(sort bson.D, key string) bson.D {
	var out bson.D
	add := func(path string, direction any) {
		if path != "" && !slices.ContainsFunc(out, func(e bson.E) bool { return e.Key == path }) {
			out = append(out, bson.E{Key: path, Value: direction})
		}
	}
	for _, path := range n.equal {
		add(path, 1)
	}
	for _, e := range sort {
		if direction, ok := whole(e.Value); ok && !strings.HasPrefix(e.Key, "$") {
			add(e.Key, direction)
		}
	}
	for _, path := range n.ranges {
		if !slices.Contains(n.equal, path) {
			add(path, 1)
		}
	}
	add(key, 1)
	return out
}

// whole returns a direction of a sort or index, 1 or -1.
func whole(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int32:
		return int(n), true
	case int64:
		return int(n), true
	case float64:
		return int(n), true
	}
	return 0, false
}

func sameKeys(a, b bson.D) bool {
	return slices.EqualFunc(a, b, func(x, y bson.E) bool {
		i, ok1 := whole(x.Value)
		j, ok2 := whole(y.Value)
		return x.Key == y.Key && ok1 && ok2 && i == j
	})
}

// createIndex returns the mongosh command that creates an index.
func createIndex(collection string, keys, command bson.D) string {
	options := ""
	if collation := field(command, "collation"); collation != nil {
		options = ", " + model.Shell(bson.D{{Key: "collation", Value: collation}})
	}
	name := "db." + collection
	if !plainName(collection) {
		name = fmt.Sprintf("db.getCollection(%s)", model.Shell(collection))
	}
	return fmt.Sprintf("%s.createIndex(%s%s)", name, model.Shell(keys), options)
}

// plainName reports whether mongosh accepts a collection's name after "db.".
func plainName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || (r < '0' || r > '9') && r != '.') {
			return false
		}
	}
	return s != ""
}
