package proximity

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/denorm/internal/flat"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// What stands in a text for a value that is none.
const (
	textMissing = ";" // for a field that an element doesn't have
	textNull    = ";;"

	// For a value that isn't a string. Only writes that bypass the technique leave such a value.
	// decodeText refuses it.
	textForeign = ";;;"
)

// textEscapes are the characters that a value can't contain as they are. Writing goes
// down the list and reading up, because "%" must be escaped first.
var textEscapes = []struct{ char, as string }{{"%", "%25"}, {"|", "%7C"}, {",", "%2C"}, {";", "%3B"}, {"\x00", "%00"}}

// makeText returns the text of a caller's list.
func (p *untypedProximity) makeText(elements []any) (string, error) {
	_, list, err := p.EncodeElements(elements)
	if err != nil {
		return "", err
	}
	return p.encodeText(list)
}

// encodeText returns the text of a list.
func (p *untypedProximity) encodeText(list []flat.Element) (string, error) {
	var b strings.Builder
	b.WriteByte('|')
	for i, e := range list {
		s, err := p.encodeElement(i, e)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// encodeElement returns the text of one element, with the "|" that ends it.
func (p *untypedProximity) encodeElement(i int, e flat.Element) (string, error) {
	parts := make([]string, len(e))
	for c, v := range e {
		switch v.Type {
		case 0:
			parts[c] = textMissing
		case bson.TypeNull, bson.TypeUndefined:
			parts[c] = textNull
		case bson.TypeString:
			if !utf8.ValidString(v.StringValue()) {
				return "", p.Docs.Refuse(fmt.Sprintf("%s[%d].%s", p.Path, i, p.ListColumns()[c]),
					nil, "isn't valid UTF-8")
			}
			parts[c] = escapeText(v.StringValue())
		default:
			return "", p.Docs.Refuse(fmt.Sprintf("%s[%d].%s", p.Path, i, p.ListColumns()[c]), v, "must be a string")
		}
	}
	return strings.Join(parts, ",") + "|", nil
}

// escapeText returns a value's text.
func escapeText(s string) string {
	for _, x := range textEscapes {
		s = strings.ReplaceAll(s, x.char, x.as)
	}
	return s
}
