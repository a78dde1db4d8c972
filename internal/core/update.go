package core

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// CheckUpdate refuses a caller's update with a missing path, a value of a type that the
// field can't contain, or an operator that doesn't apply to the field. A server would store the
// mistyped field, which the Go type then never reads, or fail for some documents only. The Codec
// must have copied the update, or encoded it.
//
//	{$inc: {"at.shelv": 1}}   the documents have no such field
//	{$push: {name: "a"}}      the field is no array
//	{$set: {_id: 7}}          an _id can't change
func (d *Docs) CheckUpdate(update bson.D) error {
	if d == nil || d.IsZero() || d.unchecked {
		return nil
	}
	for _, op := range update {
		fields, ok := op.Value.(bson.D)
		if !ok {
			continue // for the server to refuse
		}
		for i := range fields {
			path, v := fields[i].Key, fields[i].Value
			// {$rename: {old: "new"}}: the new name must be known. The old name may be one that
			// only stored documents still have.
			if op.Key == "$rename" {
				path, ok = v.(string)
				if !ok {
					continue
				}
			}
			isID := rootOf(path) == "_id" || op.Key == "$rename" && rootOf(fields[i].Key) == "_id"
			if isID && op.Key != "$setOnInsert" {
				return d.Refuse("_id", nil, op.Key+" can't change an _id: insert a new document and delete the old one")
			}
			q, err := d.findTarget(d.layout, "", path)
			if err == nil && q != opaque {
				err = d.checkChange(q, op.Key, path, v)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkChange checks what an operator does to the field at a path. Operators that aren't listed,
// such as $unset and $currentDate, apply to every type, or the server refuses them.
func (d *Docs) checkChange(q *target, op, path string, v any) error {
	switch op {
	case "$set", "$setOnInsert", "$min", "$max":
		holds := q.holds
		if q.depth > 0 { // a query also meets an array's elements, but an update sets the array
			holds = arrays
		}
		return d.checkValue(q, path, holds, v)
	case "$inc", "$mul", "$bit":
		if q.depth > 0 || q.holds&numbers == 0 {
			return d.Refuse(path, nil, fmt.Sprintf("%s needs a number, but the field is of type %s", op, q.typeName()))
		}
		if op != "$bit" {
			return d.checkValue(q, path, numbers, v)
		}
	case "$push", "$addToSet":
		if q.depth == 0 {
			return d.refuseNoArray(q, path, op)
		}
		if mod, ok := v.(bson.D); ok && len(mod) > 0 && mod[0].Key == "$each" {
			return d.checkEach(q, path, q.element, mod[0].Value)
		}
		return d.checkValue(q, path, q.element, v)
	case "$pull":
		if q.depth == 0 {
			return d.refuseNoArray(q, path, op)
		}
		element := *q
		element.holds = q.element
		// A filter of the elements' fields, or a value or condition on the elements themselves.
		if cond, ok := v.(bson.D); ok && q.docs != nil && !beginsWithOperator(cond) {
			return d.checkFilter(q.docs, path+".", cond)
		}
		return d.checkCondition(&element, path, v)
	case "$pullAll":
		if q.depth == 0 {
			return d.refuseNoArray(q, path, op)
		}
		return d.checkEach(q, path, q.element, v)
	case "$pop":
		if q.depth == 0 {
			return d.refuseNoArray(q, path, op)
		}
	}
	return nil
}

// rootOf returns the first name of a path.
func rootOf(path string) string {
	root, _, _ := strings.Cut(path, ".")
	return root
}
