package denorm

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// proximity is what of a [Proximity] doesn't depend on its types.
type proximity struct {
	nestedList
	field   string // that holds the text
	options string // of the regular expressions
}

// What stands in a text for a value that is none.
const (
	textMissing = ";"
	textNull    = ";;"
	textForeign = ";;;"
)

// textEscapes are the characters that a value can't hold as they are: "%" is the first to be written, and the last to be
// read.
var textEscapes = []struct{ char, as string }{{"%", "%25"}, {"|", "%7C"}, {",", "%2C"}, {";", "%3B"}, {"\x00", "%00"}}

func declareProximity(list nestedList, spec ProximitySpec, field func(string) model.Field, lookup func(string) (model.Field, error)) *proximity {
	place := fmt.Sprintf("NewProximity of %s.%s", list.collection, list.path)
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: remedy})
	}
	p := &proximity{nestedList: declareNested(place, list, field), field: spec.Text}
	if spec.IgnoreCase {
		p.options = "i"
	}
	switch f, err := lookup(spec.Text); {
	case model.CheckKey(spec.Text) != nil:
		fail(fmt.Sprintf("Text is %q", spec.Text), "name a field of the document itself")
	case model.Overlap(spec.Text, p.path) || spec.Text == "_id":
		fail(fmt.Sprintf("Text %q is where the list or the _id is", spec.Text), "give the text a field of its own")
	case err == nil && !f.Open && (f.IsArray() || f.Type.Kind() != reflect.String):
		fail(fmt.Sprintf("Text %q is a %s", spec.Text, f.Type), "declare it as a string, or not at all")
	}
	for _, column := range p.columns() {
		path := p.path
		if len(p.fields) > 0 {
			path += "." + column
		}
		if f := field(path); !f.Open && f.Type.Kind() != reflect.String {
			fail(fmt.Sprintf("%q is a %s", path, f.Type), "name fields that are strings")
		}
	}
	return p
}

// text is the text of a list.
func (p *proximity) text(list []flatElement) (string, error) {
	var b strings.Builder
	b.WriteByte('|')
	for i, e := range list {
		s, err := p.elementText(i, e)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// elementText is the text of one element, with its end.
func (p *proximity) elementText(i int, e flatElement) (string, error) {
	parts := make([]string, len(e))
	for c, v := range e {
		switch v.Type {
		case 0:
			parts[c] = textMissing
		case bson.TypeNull, bson.TypeUndefined:
			parts[c] = textNull
		case bson.TypeString:
			if !utf8.ValidString(v.StringValue()) {
				return "", p.refused(fmt.Sprintf("%s[%d].%s", p.path, i, p.columns()[c]), nil, "is not UTF-8")
			}
			parts[c] = escapeText(v.StringValue())
		default:
			return "", p.refused(fmt.Sprintf("%s[%d].%s", p.path, i, p.columns()[c]), v, "is not text")
		}
	}
	return strings.Join(parts, ",") + "|", nil
}

func escapeText(s string) string {
	for _, x := range textEscapes {
		s = strings.ReplaceAll(s, x.char, x.as)
	}
	return s
}

// unescapeText is a value, as it was before it was escaped.
func unescapeText(s string) (string, bool) {
	plain := s
	for i := len(textEscapes) - 1; i >= 0; i-- {
		plain = strings.ReplaceAll(plain, textEscapes[i].as, textEscapes[i].char)
	}
	return plain, escapeText(plain) == s
}

func (p *proximity) back(text string, list any) error {
	bad := func(reason string) error { return p.refused(p.field, cut(text), reason) }
	rest, ok := strings.CutPrefix(text, "|")
	if !ok || rest != "" && !strings.HasSuffix(rest, "|") {
		return bad("does not begin and end as the text of a list")
	}
	elements := bson.A{}
	for element := range strings.SplitSeq(strings.TrimSuffix(rest, "|"), "|") {
		if rest == "" {
			break
		}
		parts := strings.Split(element, ",")
		if len(parts) != len(p.columns()) {
			return bad(fmt.Sprintf("has an element of %d values", len(parts)))
		}
		e := make(flatElement, len(parts))
		for c, part := range parts {
			value, ok := unescapeText(part)
			switch {
			case part == textMissing && len(p.fields) > 0:
				continue
			case part == textNull:
				e[c] = bson.RawValue{Type: bson.TypeNull}
				continue
			case !ok:
				return bad("has a value that no text is written as")
			}
			e[c] = stringValue(value)
		}
		elements = append(elements, p.nested(e))
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: elements}})
	if err != nil {
		return bad(err.Error())
	}
	if err := bson.Raw(raw).Lookup("v").Unmarshal(list); err != nil {
		return bad("can't be decoded: " + err.Error())
	}
	return nil
}

func stringValue(s string) bson.RawValue {
	v, _ := raw(s) // a string can be encoded
	return v
}

// A WordOrder says in which order two words stand.
type WordOrder uint8

const (
	AnyOrder WordOrder = iota // one before the other, or after
	InOrder                   // the first before the second
)

const (
	wordSpace = ` \t\r\n,;` // what separates words of one element, in a class of a pattern
	maxRegex  = 32000       // bytes of a pattern; the server refuses those of more than 32,764
)

func (p *proximity) equal(fields bson.D) (bson.D, error) {
	values, err := p.equalities(fields)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(p.columns()))
	for i, column := range p.columns() {
		parts[i] = "[^,|]*"
		for _, v := range values {
			switch raw := v.Value.(bson.RawValue); {
			case v.Key != column:
			case raw.Type == bson.TypeNull:
				parts[i] = textMissing + "(?:" + textMissing + ")?"
			case raw.Type != bson.TypeString || !utf8.ValidString(raw.StringValue()):
				return nil, p.refused(p.path+"."+column, raw, "is not text")
			default:
				parts[i] = regexp.QuoteMeta(escapeText(raw.StringValue()))
			}
		}
	}
	return p.matches(`\|` + strings.Join(parts, ",") + `\|`)
}

func (p *proximity) near(word, other string, between int, order WordOrder) (bson.D, error) {
	for _, w := range []string{word, other} {
		switch {
		case w == "" || strings.ContainsAny(w, " \t\r\n"):
			return nil, p.refused(p.field, cut(w), "is not one word")
		case !utf8.ValidString(w):
			return nil, p.refused(p.field, nil, "a word is not UTF-8")
		}
	}
	switch {
	case between < 0 || between > 100:
		return nil, p.refused(p.field, between, "words can have 0 to 100 others between them")
	case order > InOrder:
		return nil, p.refused(p.field, int(order), "is no order of words")
	}
	gap := "[" + wordSpace + "]+"
	if between > 0 {
		gap += fmt.Sprintf("(?:[^%s|]+[%s]+){0,%d}", wordSpace, wordSpace, between)
	}
	a, b := regexp.QuoteMeta(escapeText(word)), regexp.QuoteMeta(escapeText(other))
	pattern := a + gap + b
	if order == AnyOrder {
		pattern = "(?:" + a + gap + b + "|" + b + gap + a + ")"
	}
	edge := "[" + wordSpace + "|]"
	return p.matches(edge + pattern + edge)
}

// matches is the filter of a pattern.
func (p *proximity) matches(pattern string) (bson.D, error) {
	if len(pattern) > maxRegex {
		return nil, p.refused(p.field, nil, fmt.Sprintf("the pattern has %d bytes, and the server takes %d", len(pattern), maxRegex))
	}
	return bson.D{{Key: p.field, Value: bson.Regex{Pattern: pattern, Options: p.options}}}, nil
}
