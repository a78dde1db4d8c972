// Package columns is the core of denorm.Columns: documents as flat ones, with a column for each value.
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

// Columns is a denorm.Columns without its types.
type Columns struct {
	docs *core.Docs
	flat string // the collection of the columns
	spec Spec
}

// A Spec is a denorm.ColumnsSpec.
type Spec struct {
	Separator               string
	MaxProperties, MaxDepth int
	Refuse                  string
	Escape                  bool
	WholeArrays             bool
	Typed                   bool
}

// Declare declares that the collection named flat holds the documents as columns. It panics with a
// *model.DeclarationError when it can't.
func Declare(docs *core.Docs, flat string, spec Spec) *Columns {
	place := core.Place("NewColumns of " + docs.Name())
	c := &Columns{docs: docs, flat: flat, spec: spec}
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

func isAlphanumeric(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// name writes one name of a path.
func (c *Columns) name(key string) (name string, refused bool) {
	if key == "" {
		return "%", false
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(key); i += n {
		_, n = utf8.DecodeRuneInString(key[i:]) // what is no UTF-8 is kept byte by byte
		switch s := key[i : i+n]; {
		case s == "%", s == c.spec.Separator, s == "#" && i == 0:
			escape(&b, s)
		case strings.Contains(c.spec.Refuse, s):
			refused = true
			escape(&b, s)
		default:
			b.WriteString(s)
		}
	}
	return b.String(), refused && !c.spec.Escape
}

func escape(b *strings.Builder, s string) {
	for i := range len(s) {
		fmt.Fprintf(b, "%%%02X", s[i])
	}
}

// Column is the name of a path's column.
func (c *Columns) Column(path []any) (string, error) {
	var parts []string
	if len(path) == 1 && path[0] == "_id" {
		return "_id", nil
	}
	for i, p := range path {
		switch p := p.(type) {
		case string:
			name, refused := c.name(p)
			if refused {
				return "", c.docs.Refuse(p, nil,
					"the name contains a character of ColumnsSpec.Refuse: rename the field, or set Escape")
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

// Footprints are the paths that are used.
func (c *Columns) Footprints() []model.Footprint {
	return model.Owns.In(c.flat, model.Whole)
}
