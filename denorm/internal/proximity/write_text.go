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
	textMissing = ";"
	textNull    = ";;"
	textForeign = ";;;"
)

// textEscapes are the characters that a value can't hold as they are: "%" is the first to be written, and the last to
// be read.
var textEscapes = []struct{ char, as string }{{"%", "%25"}, {"|", "%7C"}, {",", "%2C"}, {";", "%3B"}, {"\x00", "%00"}}

// Text is the text of a list of elements.
func (p *List) Text(elements []any) (string, error) {
	list, err := p.EncodeElements(elements)
	if err != nil {
		return "", err
	}
	return p.textOf(list)
}

// textOf is the text of a list.
func (p *List) textOf(list []flat.Element) (string, error) {
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
func (p *List) elementText(i int, e flat.Element) (string, error) {
	parts := make([]string, len(e))
	for c, v := range e {
		switch v.Type {
		case 0:
			parts[c] = textMissing
		case bson.TypeNull, bson.TypeUndefined:
			parts[c] = textNull
		case bson.TypeString:
			if !utf8.ValidString(v.StringValue()) {
				return "", p.Docs.Refuse(fmt.Sprintf("%s[%d].%s", p.Path, i, p.ListColumns()[c]), nil, "isn't valid UTF-8")
			}
			parts[c] = escapeText(v.StringValue())
		default:
			return "", p.Docs.Refuse(fmt.Sprintf("%s[%d].%s", p.Path, i, p.ListColumns()[c]), v, "must be a string")
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
