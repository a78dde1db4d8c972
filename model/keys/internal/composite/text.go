package composite

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// How parts are written, so that keys compared as bytes have the order of their values:
//
//   - A text ends with the two characters of textEnd. This end sorts below everything that can follow in a longer text,
//     and occurs nowhere else in a text. Within a text, a space before a byte above "<" stays a space. All letters are
//     above "<". Before other bytes, and at the end of the text, a space is " <". A control character is " ;" and the
//     letter that stands for it, so that a key can be printed: a tab is " ;I". So after a space come, in this order:
//     the end, a control character, a space before a low byte, a high byte.
//   - An integer is a letter for the number of digits, and the digits: a7, b42, c100. For negative numbers the letters
//     are capital and go backwards, S for one digit, R for two. Each digit d is 9-d: -1 is S8, -42 is R57.
//   - A time is 2014-03-28T09:00:00.000Z in UTC. An ObjectID is its 24 hexadecimal digits. Both always have 24 bytes.
//
// The parts after an integer, a time or an ObjectID could be found without otherEnd. It is there for people.
const (
	textEnd     = " :"
	otherEnd    = ":" // of the other kinds
	control     = ';' // after a space: a control character follows, as the letter that is '@' above it
	space       = '<' // after a space: it is a space of the text
	timeLayout  = "2006-01-02T15:04:05.000Z"
	fixedLength = len(timeLayout) // bytes of a time, and of an ObjectID
)

// partEnd returns the end of the i-th part. The last part ends with the key.
func (c *Key) partEnd(i int) string {
	switch {
	case i == len(c.parts)-1:
		return ""
	case c.parts[i].Kind == Text:
		return textEnd
	}
	return otherEnd
}

// joinParts writes the first parts of a key, each with its end. The values are encoded, one for each part from the
// first.
func (c *Key) joinParts(values []bson.RawValue) (string, error) {
	var b []byte
	for i, v := range values {
		var err error
		if b, err = c.appendPart(b, i, v); err != nil {
			return "", err
		}
		b = append(b, c.partEnd(i)...)
	}
	return string(b), nil
}

// appendPart writes the i-th part without its end. It refuses a value that is missing, or of another kind.
func (c *Key) appendPart(dst []byte, i int, v bson.RawValue) ([]byte, error) {
	p := c.parts[i]
	refuse := func(reason string) ([]byte, error) { return nil, c.Refuse(p.Path, showValue(v), reason) }
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

// appendText writes a text so that it can't contain textEnd, and so that the bytes have the order of the texts.
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

// appendInt writes an integer: 42 is b42, -42 is R57. A number with more digits is above a number with fewer digits, so
// the letter for the number of digits comes first.
func appendInt(dst []byte, n int64) []byte {
	if n >= 0 {
		digits := strconv.FormatInt(n, 10)
		return append(append(dst, 'a'+byte(len(digits)-1)), digits...)
	}
	digits := strconv.FormatInt(n, 10)[1:] // without the sign
	dst = append(dst, 'S'-byte(len(digits)-1))
	for _, d := range []byte(digits) {
		dst = append(dst, '9'-d+'0')
	}
	return dst
}

// splitKey decodes the first n parts of a key. The text may end after the n-th part without the part's end, as the _ids
// of CountByPart do. All other texts that joinParts doesn't write are refused, so that a key has one form.
func (c *Key) splitKey(key string, n int) ([]bson.RawValue, error) {
	out := make([]bson.RawValue, 0, n)
	malformed := func(i, at int, reason string) error {
		return c.Refuse("_id", strings.ToValidUTF8(key, "\uFFFD"),
			fmt.Sprintf("isn't a key: at byte %d, its %s %s", at, c.parts[i].Path, reason))
	}
	at := 0
	for i := range n {
		v, size, reason := c.parts[i].Kind.readPart(key[at:])
		if reason != "" {
			return nil, malformed(i, at, reason)
		}
		out = append(out, v)
		at += size
		end := c.partEnd(i)
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

// readPart decodes one part at the beginning of s. size is the number of bytes without the part's end. reason is "" if
// s begins with a part of the kind, and says what is wrong otherwise.
func (k Kind) readPart(s string) (v bson.RawValue, size int, reason string) {
	if k == Text {
		text, size, reason := readText(s)
		return marshalValue(text), size, reason
	}
	if k == Int {
		n, size, ok := readInt(s)
		if !ok {
			return v, 0, "isn't an integer (a letter for the number of digits, then the digits)"
		}
		return marshalValue(n), size, ""
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
		return marshalValue(id), fixedLength, ""
	}
	t, err := time.Parse(timeLayout, s)
	if err != nil || t.Format(timeLayout) != s {
		return v, 0, "isn't a time like " + timeLayout
	}
	return marshalValue(t), fixedLength, ""
}

// readText decodes a text that ends with textEnd, or with s. It is the reverse of appendText.
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

// readInt is the reverse of appendInt. It writes the number again to compare, which refuses leading zeros.
func readInt(s string) (n int64, size int, ok bool) {
	digits, negative := 0, false
	switch {
	case s == "":
	case s[0] >= 'a' && s[0] <= 's': // 1 to 19 digits, as an int64 has
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
