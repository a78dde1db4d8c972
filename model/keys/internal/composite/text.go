package composite

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// How parts are written, so that keys stand bytewise as their values do:
//
//   - A text ends with the two characters of textEnd. This end sorts below everything that can follow in a longer text,
//     and occurs nowhere else. Within a text, a space stays a space before what sorts above "<", which is all letters.
//     Before anything else, and at the end, it is " <". A control character is " ;" and the letter that stands for it (a
//     tab is " ;I"), so that a key can be printed. So after a space come, in this order: the end, control characters, a
//     space before something low, a space before something high.
//   - An integer is a letter that says how many digits there are, and the digits: a7, b42, c100. Below zero the letters
//     are capital, fewer for more digits, and each digit is what it lacks to 9: -1 is S8, -42 is R57.
//   - A time is 2014-03-28T09:00:00.000Z, an ObjectID its 24 hexadecimal digits: as long for each value.
//
// Integers, times and ObjectIDs end by themselves; the ":" behind them is for the reader.
const (
	textEnd     = " :"
	control     = ';'
	space       = '<'
	otherEnd    = ":"
	timeLayout  = "2006-01-02T15:04:05.000Z"
	fixedLength = len(timeLayout) // of a time, and of an ObjectID
)

func (c *Key) end(i int) string {
	switch {
	case i == len(c.parts)-1:
		return ""
	case c.parts[i].Kind == Text:
		return textEnd
	}
	return otherEnd
}

// join writes the first parts of a key, each with its end.
func (c *Key) join(values []bson.RawValue) (string, error) {
	var b []byte
	for i, v := range values {
		var err error
		if b, err = c.appendPart(b, i, v); err != nil {
			return "", err
		}
		b = append(b, c.end(i)...)
	}
	return string(b), nil
}

// appendPart writes a key's i-th part, without its end.
func (c *Key) appendPart(dst []byte, i int, v bson.RawValue) ([]byte, error) {
	p := c.parts[i]
	refuse := func(reason string) ([]byte, error) { return nil, c.Refuse(p.Path, held(v), reason) }
	switch {
	case v.Type == 0:
		return refuse("is missing: it is a part of the key")
	case p.Kind == Text && v.Type == bson.TypeString:
		s, ok := v.StringValueOK()
		if !ok || !utf8.ValidString(s) {
			return nil, c.Refuse(p.Path, strings.ToValidUTF8(s, "\uFFFD"), "isn't valid UTF-8")
		}
		return appendText(dst, s), nil
	case p.Kind == Int && (v.Type == bson.TypeInt64 || v.Type == bson.TypeInt32):
		return appendInt(dst, v.AsInt64()), nil
	case p.Kind == Time && v.Type == bson.TypeDateTime:
		t := time.UnixMilli(v.DateTime()).UTC()
		if t.Year() < 0 || t.Year() > 9999 {
			return refuse("must be a time in the years 0 to 9999")
		}
		return t.AppendFormat(dst, timeLayout), nil
	case p.Kind == ID && v.Type == bson.TypeObjectID:
		if v.ObjectID().IsZero() {
			return refuse("is the zero ObjectID")
		}
		return append(dst, v.ObjectID().Hex()...), nil
	}
	return refuse("must be of the kind " + p.Kind.String())
}

// held is a value for an error, of its own.
func held(v bson.RawValue) any {
	if v.Type == 0 {
		return nil
	}
	return bsonval.Clone(v)
}

func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		switch b := s[i]; {
		case b < ' ':
			dst = append(dst, ' ', control, b+'@')
		case b == ' ' && (i+1 == len(s) || s[i+1] <= space):
			dst = append(dst, ' ', space)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

func appendInt(dst []byte, n int64) []byte {
	if n >= 0 {
		digits := strconv.FormatInt(n, 10)
		return append(append(dst, 'a'+byte(len(digits)-1)), digits...)
	}
	digits := strconv.FormatInt(n, 10)[1:]
	dst = append(dst, 'S'-byte(len(digits)-1))
	for _, d := range []byte(digits) {
		dst = append(dst, '9'-d+'0')
	}
	return dst
}

// split reads the first n parts of a key. A part that others follow may be the last of what is given.
func (c *Key) split(key string, n int) ([]bson.RawValue, error) {
	out := make([]bson.RawValue, 0, n)
	malformed := func(i, at int, reason string) error {
		return c.Refuse("_id", strings.ToValidUTF8(key, "\uFFFD"),
			fmt.Sprintf("isn't a key: at byte %d, its %s %s", at, c.parts[i].Path, reason))
	}
	at := 0
	for i := range n {
		v, size, reason := c.parts[i].Kind.read(key[at:])
		if reason != "" {
			return nil, malformed(i, at, reason)
		}
		out = append(out, v)
		at += size
		end := c.end(i)
		switch {
		case at == len(key) && i == n-1:
		case end == "":
			return nil, malformed(i, at, "is the last part, but the key continues")
		case !strings.HasPrefix(key[at:], end):
			return nil, malformed(i, at, fmt.Sprintf("doesn't end with %q", end))
		}
		at += len(end)
	}
	return out, nil
}

// read reads one part from the front of a key: the value, and how long it is, without its end.
func (k Kind) read(s string) (v bson.RawValue, size int, reason string) {
	if k == Text {
		text, size, reason := readText(s)
		return value(text), size, reason
	}
	if k == Int {
		n, size, ok := readInt(s)
		if !ok {
			return v, 0, "isn't an integer (a letter for the number of digits, then the digits)"
		}
		return value(n), size, ""
	}
	if len(s) < fixedLength {
		return v, 0, "is too short for the kind " + k.String()
	}
	s = s[:fixedLength]
	if k == ID {
		id, err := bson.ObjectIDFromHex(s)
		if err != nil || id.IsZero() || id.Hex() != s {
			return v, 0, "isn't an ObjectID"
		}
		return value(id), fixedLength, ""
	}
	t, err := time.Parse(timeLayout, s)
	if err != nil || t.Format(timeLayout) != s {
		return v, 0, "isn't a time like " + timeLayout
	}
	return value(t), fixedLength, ""
}

func value(v any) bson.RawValue {
	t, data, _ := bson.MarshalValue(v) // of a type that can be
	return bson.RawValue{Type: t, Value: data}
}

// readText reads up to the text's end, or that of s.
func readText(s string) (text string, size int, reason string) {
	end := strings.Index(s, textEnd)
	if end < 0 {
		end = len(s)
	}
	s = s[:end]
	if !utf8.ValidString(s) {
		return "", 0, "isn't valid UTF-8"
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] < ' ':
			return "", 0, "contains a control character"
		case s[i] != ' ':
			b = append(b, s[i])
		case i+1 < len(s) && s[i+1] > space:
			b = append(b, ' ')
		case i+1 < len(s) && s[i+1] == space && (i+2 == len(s) || s[i+2] <= space):
			b = append(b, ' ')
			i++
		case i+2 < len(s) && s[i+1] == control && s[i+2] >= '@' && s[i+2] < '@'+' ':
			b = append(b, s[i+2]-'@')
			i += 2
		default:
			return "", 0, fmt.Sprintf("has an invalid character after the space at byte %d of the part", i)
		}
	}
	return string(b), end, ""
}

func readInt(s string) (n int64, size int, ok bool) {
	digits, negative := 0, false
	switch {
	case s == "":
	case s[0] >= 'a' && s[0] <= 's':
		digits = int(s[0]-'a') + 1
	case s[0] >= 'A' && s[0] <= 'S':
		digits, negative = int('S'-s[0])+1, true
	}
	if digits == 0 || len(s) < digits+1 {
		return 0, 0, false
	}
	text := make([]byte, 0, 20)
	if negative {
		text = append(text, '-')
	}
	for _, d := range []byte(s[1 : digits+1]) {
		if d < '0' || d > '9' {
			return 0, 0, false
		}
		if negative {
			d = '9' - d + '0'
		}
		text = append(text, d)
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || string(appendInt(nil, n)) != s[:digits+1] {
		return 0, 0, false
	}
	return n, digits + 1, true
}
