package modeltest

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// addOthers adds another tenant's equal documents, with new _ids. An _id that carries the
// tenant is the other tenant's _id of the same key. It returns the number of documents,
// and the collections with _ids that can't be changed.
func (i image) addOthers(tenant bson.D) (n int, without []string, _ error) {
	theirs, err := otherTenant(tenant)
	if err != nil {
		return 0, nil, err
	}
	for j, c := range i {
		for _, raw := range c.docs {
			if !isOf(raw, tenant) {
				continue
			}
			doc, err := changed(raw, tenant, theirs)
			if err != nil {
				return 0, nil, err
			}
			if doc == nil {
				if !slices.Contains(without, c.name) {
					without = append(without, c.name)
				}
				continue
			}
			i[j].docs = append(i[j].docs, doc)
			n++
		}
	}
	return n, without, nil
}

// otherTenant returns a tenant that differs in the first field.
func otherTenant(tenant bson.D) (bson.D, error) {
	raw, err := bson.Marshal(tenant)
	if err != nil {
		return nil, err
	}
	var out bson.D
	if err := bson.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	out[0].Value = otherValue(out[0].Value)
	return out, nil
}

// changed returns the other tenant's copy of a document, or nil if the _id can't be
// changed.
func changed(raw bson.Raw, tenant, theirs bson.D) (bson.Raw, error) {
	key, keyed := core.SplitKeyID(raw.Lookup("_id"), tenant)
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	for i, e := range d {
		if e.Key == "_id" && keyed {
			d[i].Value = core.NewKeyID(key, theirs)
			continue
		}
		if e.Key == "_id" {
			if d[i].Value = otherValue(e.Value); d[i].Value == nil {
				return nil, nil
			}
		}
		for _, t := range theirs {
			if t.Key == e.Key {
				d[i].Value = t.Value
			}
		}
	}
	return bson.Marshal(d)
}

// otherValue returns a different value of the same type, or nil if it can't. Different
// values give different results.
func otherValue(v any) any {
	switch v := v.(type) {
	case string:
		return v + "~"
	case int32:
		return v ^ 1<<30
	case int64:
		return v ^ 1<<62
	case float64:
		return -v - 0.5
	case bson.ObjectID:
		v[0] ^= 0xff
		return v
	case bson.DateTime:
		return v ^ 1<<40
	case bson.Binary:
		if len(v.Data) == 0 {
			return nil
		}
		v.Data = slices.Clone(v.Data)
		v.Data[0] ^= 0xff
		return v
	case bson.D:
		return append(slices.Clone(v), bson.E{Key: "~", Value: int32(1)})
	}
	return nil
}

// isOf reports whether a document has the tenant's fields.
func isOf(doc bson.Raw, tenant bson.D) bool {
	for _, e := range tenant {
		t, data, err := bson.MarshalValue(e.Value)
		if v := doc.Lookup(e.Key); err != nil || v.Type != t || !bytes.Equal(v.Value, data) {
			return false
		}
	}
	return true
}

// asksFor reports whether a command is restricted to the tenant's documents. The library's
// own documents, for leases and checkpoints, have the tenant in their _id.
func asksFor(c mongotest.Command, tenant bson.D) bool {
	if !scoped[c.Name] {
		return true
	}
	parts := testserver.Statements(c.Name, c.Body)
	if len(parts) == 0 {
		return holdsTenant(c.Body, tenant)
	}
	for _, part := range parts {
		if !holdsTenant(part.Value, tenant) {
			return false
		}
	}
	return true
}

func holdsTenant(body []byte, tenant bson.D) bool {
	if bytes.Contains(body, []byte(model.Shell(tenant))) {
		return true
	}
	for _, e := range tenant {
		_, data, err := bson.MarshalValue(e.Value)
		if err != nil || !bytes.Contains(body, []byte(e.Key+"\x00")) || !bytes.Contains(body, data) {
			return false
		}
	}
	return true
}

// isOn reports whether a command's text contains the collection. A pipeline may read
// several.
func isOn(c mongotest.Command, collection string) bool {
	return bytes.Contains(c.Body, []byte(collection+"\x00"))
}
