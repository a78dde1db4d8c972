package proximity

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/denorm/internal/flat"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	wordSpace = ` \t\r\n,;` // what separates words of one element, in a class of a pattern
	maxRegex  = 32000       // bytes of a pattern; the server refuses those of more than 32,764
)

// matchEqual matches documents with an element that has these values. Null also matches a
// missing field.
func (p *untypedProximity) matchEqual(fields bson.D) (bson.D, error) {
	values, err := p.EncodeEqualities(fields)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(p.ListColumns()))
	for i, column := range p.ListColumns() {
		parts[i] = "[^,|]*" // any value
		for _, v := range values {
			switch raw := v.Value.(bson.RawValue); {
			case v.Key != column:
			case raw.Type == bson.TypeNull:
				parts[i] = textMissing + "(?:" + textMissing + ")?"
			case raw.Type != bson.TypeString || !utf8.ValidString(raw.StringValue()):
				return nil, p.Docs.Refuse(p.Path+"."+column, raw, "must be a string")
			default:
				parts[i] = regexp.QuoteMeta(escapeText(raw.StringValue()))
			}
		}
	}
	return p.matchPattern(`\|` + strings.Join(parts, ",") + `\|`)
}

// matchNear matches documents with an element in which two words are near each other. The
// words can be in different fields of the element, because "," is between words too.
func (p *untypedProximity) matchNear(word, other string, between int, order WordOrder) (bson.D, error) {
	for _, w := range []string{word, other} {
		switch {
		case w == "" || strings.ContainsAny(w, " \t\r\n"):
			return nil, p.Docs.Refuse(p.field, commands.Shorten(w), "must be one word")
		case !utf8.ValidString(w):
			return nil, p.Docs.Refuse(p.field, nil, "contains a word that isn't UTF-8")
		}
	}
	switch {
	case between < 0 || between > 100:
		return nil, p.Docs.Refuse(p.field, between, "must be 0 to 100: the number of other words between two words")
	case order > InOrder:
		return nil, p.Docs.Refuse(p.field, int(order), "must be AnyOrder or InOrder")
	}
	// Other words between the two are in the same element: they don't contain "|".
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
	return p.matchPattern(edge + pattern + edge)
}

// matchPattern is the filter of a pattern. It refuses a pattern that the server would
// refuse.
func (p *untypedProximity) matchPattern(pattern string) (bson.D, error) {
	if len(pattern) > maxRegex {
		return nil, p.Docs.Refuse(p.field, nil,
			fmt.Sprintf("the pattern has %d bytes, but the server's limit is %d: give fewer or shorter words",
				len(pattern), maxRegex))
	}
	return bson.D{{Key: p.field, Value: bson.Regex{Pattern: pattern, Options: p.options}}}, nil
}

// decodeText decodes the list of a text into a pointer to a slice.
func (p *untypedProximity) decodeText(text string, list any) error {
	bad := func(reason string) error { return p.Docs.Refuse(p.field, commands.Shorten(text), reason) }
	rest, ok := strings.CutPrefix(text, "|")
	if !ok || rest != "" && !strings.HasSuffix(rest, "|") {
		return bad("doesn't begin and end like the text of a list")
	}
	elements := bson.A{}
	for element := range strings.SplitSeq(strings.TrimSuffix(rest, "|"), "|") {
		if rest == "" {
			break
		}
		parts := strings.Split(element, ",")
		if len(parts) != len(p.ListColumns()) {
			return bad(fmt.Sprintf("has an element of %d values", len(parts)))
		}
		e := make(flat.Element, len(parts))
		for c, part := range parts {
			value, ok := unescapeText(part)
			switch {
			case part == textMissing && len(p.Fields) > 0:
				continue
			case part == textNull:
				e[c] = bson.RawValue{Type: bson.TypeNull}
				continue
			case !ok:
				return bad("has a value that isn't escaped correctly")
			}
			e[c] = core.MustRawValue(value)
		}
		elements = append(elements, p.JoinElement(e))
	}
	if err := core.MustRawValue(elements).Unmarshal(list); err != nil {
		return bad("can't be decoded: " + err.Error())
	}
	return nil
}

// unescapeText returns the value of a text. ok is false for a text that escapeText never
// makes.
func unescapeText(s string) (string, bool) {
	plain := s
	for i := len(textEscapes) - 1; i >= 0; i-- {
		plain = strings.ReplaceAll(plain, textEscapes[i].as, textEscapes[i].char)
	}
	return plain, escapeText(plain) == s
}
