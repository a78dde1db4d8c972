package bounded

// This file encodes the update of a push directly into BSON.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A pushUpdate is an update by $push and other operators, encoded while it is built: the
// driver only has to copy it.
type pushUpdate struct {
	parts *pushParts
	buf   []byte
	each  bson.RawArray // the elements
}

// pushParts are the parts of a small update, in one allocation. A larger update allocates
// more.
type pushParts struct {
	model  mongo.UpdateOneModel
	filter [1]bson.E
	buf    [192]byte
}

// newPush begins an update. The first four bytes are its length, which endUpdate sets.
func newPush() pushUpdate {
	p := new(pushParts)
	return pushUpdate{parts: p, buf: p.buf[:4]}
}

// endUpdate ends the update, and writes its length.
func (p *pushUpdate) endUpdate() bson.Raw { return core.EndDocument(p.buf, 0) }

// appendPush adds the $push of elements, whose types are checked.
func (b *untypedBounded) appendPush(p *pushUpdate, elements []any) error {
	buf, push := core.AppendDocument(p.buf, bson.TypeEmbeddedDocument, "$push")
	buf, array := core.AppendDocument(buf, bson.TypeEmbeddedDocument, b.field.Path)
	buf, each := core.AppendDocument(buf, bson.TypeArray, "$each")
	var err error
	for i, e := range elements {
		if buf, err = b.appendElement(buf, i, e); err != nil {
			return err
		}
	}
	buf = core.EndDocument(buf, each)
	p.each = bson.RawArray(buf[each:])
	buf = append(buf, b.bound...)
	p.buf = core.EndDocument(core.EndDocument(buf, array), push)
	return nil
}

// appendElement encodes one element. The type of a closed field has only its own names,
// so that they needn't be checked. A pointer to the element's type is accepted too.
func (b *untypedBounded) appendElement(buf []byte, i int, e any) ([]byte, error) {
	refused := func(below, reason string) error {
		return b.docs.Refuse(strings.TrimSuffix(fmt.Sprintf("%s[%d].%s", b.field.Path, i, below), "."), nil, reason)
	}
	if t := reflect.TypeOf(e); !b.field.Untyped && t != b.field.Type {
		if t == nil || t.Kind() != reflect.Pointer || t.Elem() != b.field.Type || reflect.ValueOf(e).IsNil() {
			return nil, refused("", fmt.Sprintf("is a %T: use a %s", e, b.field.Type))
		}
	}
	name := strconv.Itoa(i)
	begun := len(buf)
	buf, err := b.docs.AppendElement(buf, name, e)
	if err != nil {
		return nil, refused("", err.Error())
	}
	if b.field.Closed {
		return buf, nil
	}
	v := bson.RawValue{Type: bson.Type(buf[begun]), Value: buf[begun+len(name)+2:]}
	if path, err := core.CheckNames(v, ""); err != nil {
		return nil, refused(path, err.Error())
	}
	return buf, nil
}

// appendOthers adds other operators. It reports false if it can't easily decide whether
// they fit together: if two name one field, or fields within one, if an operator occurs
// twice, or if a value can't be stored. model.Merge then decides.
func (p *pushUpdate) appendOthers(with bson.D, path string, docs *core.Docs) bool {
	for i, op := range with {
		fields, ok := op.Value.(bson.D)
		if !ok || len(fields) == 0 || !strings.HasPrefix(op.Key, "$") || op.Key == "$push" || op.Key == "$rename" {
			return false
		}
		buf, begun := core.AppendDocument(p.buf, bson.TypeEmbeddedDocument, op.Key)
		for j, f := range fields {
			if isSameField(f.Key, path) || hasField(fields[:j], f.Key) {
				return false
			}
			for _, before := range with[:i] {
				if before.Key == op.Key || hasField(before.Value.(bson.D), f.Key) {
					return false
				}
			}
			var err error
			if buf, err = docs.AppendElement(buf, f.Key, f.Value); err != nil {
				return false
			}
		}
		p.buf = core.EndDocument(buf, begun)
	}
	return true
}

// addVersion adds the version of a document that the update creates. A nil version adds
// nothing.
func addVersion(with, version bson.D) bson.D {
	if version == nil {
		return with
	}
	with = slices.Clone(with)
	for i, op := range with {
		if fields, ok := op.Value.(bson.D); ok && op.Key == "$setOnInsert" {
			with[i].Value = append(fields[:len(fields):len(fields)], version...)
			return with
		}
	}
	return append(with, bson.E{Key: "$setOnInsert", Value: version})
}

// hasField reports whether one of the fields begins with the same field as a path.
func hasField(fields bson.D, path string) bool {
	for _, f := range fields {
		if isSameField(f.Key, path) {
			return true
		}
	}
	return false
}

// isSameField reports whether two paths begin with the same field.
func isSameField(a, b string) bool {
	for i := 0; ; i++ {
		endA, endB := i == len(a) || a[i] == '.', i == len(b) || b[i] == '.'
		switch {
		case endA || endB:
			return endA && endB
		case a[i] != b[i]:
			return false
		}
	}
}
