package keys

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const maxDigits = 18 // the most of which each number is an int64

// ownerKind is how an owner is written into a key.
type ownerKind uint8

const (
	textOwner   ownerKind = iota // as it is, "_" and "%" escaped
	numberOwner                  // in decimal
	objectOwner                  // an ObjectID, in hexadecimal
)

func ownerKindOf(owner any) (ownerKind, bool) {
	t := reflect.TypeOf(owner)
	switch {
	case t == nil:
		return 0, false
	case t == reflect.TypeFor[bson.ObjectID]():
		return objectOwner, true
	case t.Implements(reflect.TypeFor[bson.ValueMarshaler]()):
		return 0, false
	case t.Kind() == reflect.String:
		return textOwner, true
	}
	return numberOwner, reflect.Zero(t).CanInt()
}

// greatest is the greatest number of so many digits.
func greatest(digits int) int64 {
	n := int64(1)
	for range digits {
		n *= 10
	}
	return n - 1
}

var ownerText = strings.NewReplacer("%", "%25", "_", "%5F")

// text is an owner as the beginning of a key; it holds no "_".
func (s *sequence) text(owner any) (string, error) {
	v := reflect.ValueOf(owner)
	switch s.kind {
	case numberOwner:
		return strconv.FormatInt(v.Int(), 10), nil
	case objectOwner:
		if id := owner.(bson.ObjectID); !id.IsZero() {
			return id.Hex(), nil
		}
	default:
		text := v.String()
		if !utf8.ValidString(text) {
			return "", s.refused("owner", nil, "the owner is not valid UTF-8")
		}
		if text != "" {
			return ownerText.Replace(text), nil
		}
	}
	return "", s.refused("owner", nil, "the owner is empty")
}

func (s *sequence) checkNumber(n int64) error {
	if n < 0 || n > s.max {
		return s.refused("n", n, fmt.Sprintf("a number is from 0 to %d", s.max))
	}
	return nil
}

func (s *sequence) key(owner any, n int64) (string, error) {
	text, err := s.text(owner)
	if err == nil {
		err = s.checkNumber(n)
	}
	if err != nil {
		return "", err
	}
	return s.numbered(text, n), nil
}

func (s *sequence) numbered(text string, n int64) string {
	return fmt.Sprintf("%s_%0*d", text, s.digits, n)
}

// parse takes a key apart; into is a pointer to an owner.
func (s *sequence) parse(key string, into any) (int64, error) {
	text, digits, _ := strings.Cut(key, "_")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || s.checkNumber(n) != nil || s.numbered(text, n) != key || !s.owner(text, into) {
		return 0, s.refused("key", key, fmt.Sprintf("is no owner and number of %d digits, with \"_\" between", s.digits))
	}
	return n, nil
}

// owner reads the owner back from its text.
func (s *sequence) owner(text string, into any) bool {
	v := reflect.ValueOf(into).Elem()
	switch s.kind {
	case numberOwner:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v.OverflowInt(n) {
			return false
		}
		v.SetInt(n)
	case objectOwner:
		id, err := bson.ObjectIDFromHex(text)
		if err != nil {
			return false
		}
		v.Set(reflect.ValueOf(id))
	default:
		v.SetString(strings.NewReplacer("%5F", "_", "%25", "%").Replace(text))
	}
	back, err := s.text(v.Interface())
	if err != nil || back != text {
		v.SetZero()
		return false
	}
	return true
}

// pattern matches the keys of the sequence. What makes the text of an owner is bounded, so that no key of other code is one.
func (s *sequence) pattern() bson.Regex {
	owner := `([^_%]|%25|%5F)[^_%]*((%25|%5F)[^_%]*)*`
	switch s.kind {
	case numberOwner:
		owner = `(0|-?[1-9][0-9]{0,18})`
	case objectOwner:
		owner = `[0-9a-f]{24}`
	}
	return bson.Regex{Pattern: fmt.Sprintf(`^%s_[0-9]{%d}\z`, owner, s.digits)}
}

// ownerOf is the expression that reads the owner from its text.
func (s *sequence) ownerOf(text string) any {
	switch s.kind {
	case numberOwner:
		return seqOp("$convert", bson.D{{Key: "input", Value: text}, {Key: "to", Value: "long"}, {Key: "onError", Value: nil}})
	case objectOwner:
		return seqOp("$toObjectId", text)
	}
	replace := func(input any, find, with string) bson.D {
		return seqOp("$replaceAll", bson.D{{Key: "input", Value: input}, {Key: "find", Value: find}, {Key: "replacement", Value: with}})
	}
	return replace(replace(text, "%5F", "_"), "%25", "%")
}

// between matches an owner's keys from one number to another, both included.
func (s *sequence) between(owner any, from, to int64) (bson.D, error) {
	text, err := s.text(owner)
	if err == nil {
		err = s.checkNumber(from)
	}
	if err == nil {
		err = s.checkNumber(to)
	}
	if err != nil {
		return nil, err
	}
	return seqRange("$gte", s.numbered(text, from), "$lte", s.numbered(text, to)), nil
}

func (s *sequence) all(owner any) (bson.D, error) { return s.between(owner, 0, s.max) }

func (s *sequence) before(owner any, n int64) (bson.D, error) {
	text, err := s.text(owner)
	if err == nil {
		err = s.checkNumber(n)
	}
	return seqRange("$gte", s.numbered(text, 0), "$lt", s.numbered(text, n)), err
}

func (s *sequence) after(owner any, n int64) (bson.D, error) {
	text, err := s.text(owner)
	if err == nil {
		err = s.checkNumber(n)
	}
	return seqRange("$gt", s.numbered(text, n), "$lte", s.numbered(text, s.max)), err
}

func seqRange(low, from, high, to string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: low, Value: from}, {Key: high, Value: to}}}}
}

func seqShow(v bson.RawValue) string {
	if v.Type == 0 {
		return "nothing"
	}
	text := model.Shell(v)
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}
