package denorm

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// pushParts are the parts of a push of one element with a few other operators, in one allocation. What is larger grows out of
// them.
type pushParts struct {
	model     mongo.UpdateOneModel
	filter    [1]bson.E
	each      [1]any
	modifiers [3]bson.E
	push      [1]bson.E
	operators [4]bson.E
	fields    [4]bson.E // of the other operators
}

// update is the update by $push.
func (p *pushParts) update(path string, modifiers bson.D) bson.D {
	push := append(bson.D(p.push[:0]), bson.E{Key: path, Value: modifiers})
	return append(bson.D(p.operators[:0]), bson.E{Key: "$push", Value: push})
}

// add appends other operators to a $push, their values encoded. It reports false where it takes care to say whether they go
// together: when two name one field, or fields within one, or an operator comes twice.
func (p *pushParts) add(update, with bson.D, encode func(any) (any, error)) (_ bson.D, simple bool) {
	path := update[0].Value.(bson.D)[0].Key
	all := bson.D(p.fields[:0])
	for i, op := range with {
		fields, ok := op.Value.(bson.D)
		if !ok || len(fields) == 0 || !strings.HasPrefix(op.Key, "$") || op.Key == "$push" || op.Key == "$rename" || hasOperator(with[:i], op.Key) {
			return nil, false
		}
		first := len(all)
		for _, f := range fields {
			if sameField(f.Key, path) || hasField(all, f.Key) {
				return nil, false
			}
			v, err := encode(f.Value)
			if err != nil {
				return nil, false
			}
			all = append(all, bson.E{Key: f.Key, Value: v})
		}
		update = append(update, bson.E{Key: op.Key, Value: all[first:len(all):len(all)]})
	}
	return update, true
}

func hasOperator(update bson.D, name string) bool {
	for _, op := range update {
		if op.Key == name {
			return true
		}
	}
	return false
}

func hasField(fields bson.D, path string) bool {
	for _, f := range fields {
		if sameField(f.Key, path) {
			return true
		}
	}
	return false
}

// sameField reports whether two paths begin with the same field.
func sameField(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}
