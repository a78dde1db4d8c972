package embed

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// reactions returns how a store checks the elements of a new document, and refuses to write
// the outermost array of a stored one.
func (m *embedding) reactions(technique, outermost string, check func(doc bson.Raw) error) []model.Reaction {
	return []model.Reaction{{
		Collection: m.docs.Name(), Paths: []string{outermost},
		Amend: func(w model.StoreWrite) (bson.D, error) {
			if w.Before == nil {
				return nil, check(w.After)
			}
			was, _ := core.ValueAt(w.Before, outermost)
			now, _ := core.ValueAt(w.Given, outermost)
			if bsonval.EqualRaw(was, now) {
				return nil, nil
			}
			return nil, m.docs.Refuse(outermost, nil,
				fmt.Sprintf("can't be written whole: use %[1]s.Add, %[1]s.Update or %[1]s.Remove", technique))
		},
	}}
}

// checkNew refuses elements of a new document that the methods wouldn't store.
func (m *embedding) checkNew(doc bson.Raw) error {
	list, _ := core.ValueAt(doc, m.path)
	return m.checkArray(m.path, list)
}

// checkArray refuses an array with too many elements, or with elements that have no key or
// the same one. place names the array.
func (m *embedding) checkArray(place string, list bson.RawValue) error {
	all := core.Elements(list)
	switch {
	case list.Type == 0:
		return nil
	case list.Type != bson.TypeArray:
		return m.docs.Refuse(place, list, "isn't an array")
	case m.max > 0 && len(all) > m.max:
		return fmt.Errorf("%w (%s: %s has %d elements, but at most %d)", errArrayFull, m.docs.Name(), place, len(all), m.max)
	}
	seen := map[string]bool{}
	for i, e := range all {
		doc, ok := e.DocumentOK()
		key, inArray := core.ValueAt(doc, m.key)
		at := fmt.Sprintf("%s[%d]", place, i)
		switch name := bsonval.Key(key); {
		case !ok:
			return m.docs.Refuse(at, e, "must be stored as a document")
		case inArray || !tellsApart(key):
			return m.docs.Refuse(at+"."+m.key, nil, "the element has no key: give a value to the Key field")
		case seen[name]:
			return m.docs.Refuse(at+"."+m.key, key, "two elements have the same key: give each key once")
		default:
			seen[name] = true
		}
	}
	return nil
}

// checkNew refuses inner elements of a new document that the methods wouldn't store.
func (n *nesting) checkNew(doc bson.Raw) error {
	outer, _ := core.ValueAt(doc, n.outer.path)
	for i, e := range core.Elements(outer) {
		in, _ := e.DocumentOK()
		list, _ := core.ValueAt(in, n.path)
		if err := n.in.checkArray(fmt.Sprintf("%s[%d].%s", n.outer.path, i, n.path), list); err != nil {
			return err
		}
	}
	return nil
}

// reactions returns how a store refuses a subdocument that isn't a document.
func (s *subdocument) reactions() []model.Reaction {
	return []model.Reaction{{
		Collection: s.docs.Name(), Paths: []string{s.path},
		Amend: func(w model.StoreWrite) (bson.D, error) {
			switch v, _ := core.ValueAt(w.After, s.path); v.Type {
			case 0, bson.TypeNull, bson.TypeEmbeddedDocument:
				return nil, nil
			default:
				return nil, s.docs.Refuse(s.path, v, "must be stored as a document")
			}
		},
	}}
}

// reactions returns how a store refuses values without a declared tag.
func (k *kinds) reactions() []model.Reaction {
	path := k.path
	if path == "" {
		path = k.u.tag
	}
	return []model.Reaction{{
		Collection: k.docs.Name(), Paths: []string{path},
		Amend: func(w model.StoreWrite) (bson.D, error) {
			values := []bson.RawValue{{Type: bson.TypeEmbeddedDocument, Value: w.After}}
			if k.path != "" {
				v, _ := core.ValueAt(w.After, k.path)
				if values[0] = v; k.list {
					values = core.Elements(v)
				}
			}
			return nil, k.checkTags(values)
		},
	}}
}

func (k *kinds) checkTags(values []bson.RawValue) error {
	for _, v := range values {
		doc, isDoc := v.DocumentOK()
		tag, err := doc.LookupErr(k.u.tag)
		if name, isText := tag.StringValueOK(); k.u.other == nil && isDoc {
			if _, known := k.u.byTag[name]; err != nil || !isText || !known {
				return k.docs.Refuse(k.tag(), tag, "isn't a declared tag: "+strings.Join(k.u.tags(), ", "))
			}
		}
	}
	return nil
}
