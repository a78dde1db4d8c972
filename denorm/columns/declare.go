// Inside package columns: each document also
// has a flat document, with a column for each value. The public type passes the List methods to
// model.Parts. Stores call makeReactions, audits call listChecks.
//
// # Stored form
//
// A document and its flat document, with the Separator "/":
//
//	orders       {_id: 1, to: {city: "Rome"}, items: [{sku: "a"}], "a/b": 2, empty: {}}
//	orders_flat  {_id: 1, "to/city": "Rome", "items/#0/sku": "a", "a%2Fb": 2, empty: {}}
//
// A column's name is the path of its value. "#0" is an element of an array. In a name,
// "%", the separator and a leading "#" become % and two hexadecimal digits, and the empty
// name becomes "%", so nestDocument can restore the document. An empty document or array
// is a column itself. With Typed, a name ends with "!" and the type, such as
// "to/city!string".
//
// # Protocol
//
//  1. flattenDocument walks through the document and collects all problems: refused
//     characters, too many properties, too deep.
//  2. storeDocument replaces the flat document by an upsert with the document's _id.
//  3. In a store's transaction, writeColumns sends 2 after the document's write. Outside
//     transactions the store is refused, because of two writers the later one could store its
//     flat document first.
//  4. The rebuilding job sends 2 for all documents.
//
// # What a crash leaves
//
// In a transaction, nothing. For callers who write both themselves, a crash leaves an old
// flat document, or one without a document. The job corrects the first, the check the
// second.

package columns

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

const (
	defaultProperties = 1000
	defaultDepth      = 127
	greatestDepth     = 200 // MongoDB stores no deeper document; some room is left for what encodes them
	defaultRefused    = ":`,;{}()=\n\t.$"
)

// An untypedColumns is the Columns without its Go types.
type untypedColumns struct {
	docs *core.Docs
	// the collection of the flat documents
	flat string
	spec Spec
}

// declareColumns declares that the collection named flat has the flat documents. It panics with
// a *model.DeclarationError if the spec is invalid.
func declareColumns(docs *core.Docs, flat string, spec Spec) *untypedColumns {
	place := core.Place("columns.New of " + docs.Name())
	c := &untypedColumns{docs: docs, flat: flat, spec: spec}
	s := &c.spec
	s.Separator, s.Refuse = cmp.Or(s.Separator, "/"), cmp.Or(s.Refuse, defaultRefused)
	s.MaxProperties, s.MaxDepth = cmp.Or(s.MaxProperties, defaultProperties), cmp.Or(s.MaxDepth, defaultDepth)
	switch {
	case docs.Name() == flat:
		place.Fail("the flat documents are in the documents' own collection", "give them a collection of their own")
	case len(s.Separator) != 1 || !strings.Contains("\"&'()*+,-/:;<=>?@[\\]^_`{|}~", s.Separator):
		place.Fail(fmt.Sprintf("Separator is %q", s.Separator), `give one character, as "/", "_" or "|"`)
	case strings.ContainsAny(s.Refuse, "%#!_") || strings.ContainsFunc(s.Refuse, isAlphanumeric):
		place.Fail(fmt.Sprintf("Refuse is %q", s.Refuse),
			"leave out letters, digits and the characters that column names need: % # ! _")
	case s.MaxProperties < 0:
		place.Fail(fmt.Sprintf("MaxProperties is %d", s.MaxProperties), "give 1 or more, or 0 for 1000")
	case s.MaxDepth < 0 || s.MaxDepth > greatestDepth:
		place.Fail(fmt.Sprintf("MaxDepth is %d", s.MaxDepth), "give 1 to 200, or 0 for 127")
	}
	return c
}

// isAlphanumeric reports whether a rune is an ASCII letter or digit.
func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// encodeName escapes a field's name for a column's name. refused says that the name has a
// character of Refuse, and Escape isn't set. Bytes that aren't UTF-8 stay as they are.
func (c *untypedColumns) encodeName(key string) (name string, refused bool) {
	if key == "" {
		return "%", false
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(key); i += n {
		_, n = utf8.DecodeRuneInString(key[i:]) // what is no UTF-8 is kept byte by byte
		switch s := key[i : i+n]; {
		case s == "%", s == c.spec.Separator, s == "#" && i == 0:
			escapeBytes(&b, s)
		case strings.Contains(c.spec.Refuse, s):
			refused = true
			escapeBytes(&b, s)
		default:
			b.WriteString(s)
		}
	}
	return b.String(), refused && !c.spec.Escape
}

// escapeBytes writes each byte of s as % and two hexadecimal digits.
func escapeBytes(b *strings.Builder, s string) {
	for i := range len(s) {
		fmt.Fprintf(b, "%%%02X", s[i])
	}
}

// nameColumn returns the name of the column of a path of fields (strings) and elements
// (ints).
func (c *untypedColumns) nameColumn(path []any) (string, error) {
	var parts []string
	if len(path) == 1 && path[0] == "_id" {
		return "_id", nil
	}
	for i, p := range path {
		switch p := p.(type) {
		case string:
			name, refused := c.encodeName(p)
			if refused {
				return "", c.docs.Refuse(p, nil,
					"the name contains a character of columns.Spec.Refuse: rename the field, or set Escape")
			}
			parts = append(parts, name)
			continue
		case int:
			if i > 0 && p >= 0 {
				parts = append(parts, "#"+strconv.Itoa(p))
				continue
			}
		}
		return "", c.docs.Refuse("path", nil,
			model.Shell(p)+
				" isn't valid: a path consists of strings (fields) and, after the first, ints from 0 (elements)")
	}
	if len(parts) == 0 {
		return "", c.docs.Refuse("path", nil, "is empty")
	}
	return strings.Join(parts, c.spec.Separator), nil
}

// listFootprints returns the paths that the technique uses.
func (c *untypedColumns) listFootprints() []model.Footprint {
	return model.Owns.In(c.flat, model.Whole)
}
