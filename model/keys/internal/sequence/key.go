package sequence

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ownerText escapes "_", which ends the owner in a key, and "%", which begins an escape.
var ownerText = strings.NewReplacer("%", "%25", "_", "%5F")

// encodeOwner returns an owner as the beginning of a key. The text has no "_". An empty owner is refused.
func (s *Sequence) encodeOwner(owner any) (string, error) {
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
			return "", s.Refuse("owner", nil, "isn't valid UTF-8")
		}
		if text != "" {
			return ownerText.Replace(text), nil
		}
	}
	return "", s.Refuse("owner", nil, "is empty: give the owner")
}

// checkNumber allows 0, although counters begin at 1: callers may number documents themselves.
func (s *Sequence) checkNumber(n int64) error {
	if n < 0 || n > s.Max {
		return s.Refuse("n", n, fmt.Sprintf("must be from 0 to %d", s.Max))
	}
	return nil
}

// MakeKey returns the _id of an owner's n-th document.
func (s *Sequence) MakeKey(owner any, n int64) (string, error) {
	text, err := s.encodeOwner(owner)
	if err == nil {
		err = s.checkNumber(n)
	}
	if err != nil {
		return "", err
	}
	return s.formatKey(text, n), nil
}

// formatKey joins the text of an owner and a number, with leading zeros: alice_000042.
func (s *Sequence) formatKey(text string, n int64) string {
	return fmt.Sprintf("%s_%0*d", text, s.digits, n)
}

// ParseKey decodes a key. into is a pointer to an owner. A text that MakeKey doesn't return is refused, so that a
// document has one key.
func (s *Sequence) ParseKey(key string, into any) (int64, error) {
	text, digits, _ := strings.Cut(key, "_")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || s.checkNumber(n) != nil || s.formatKey(text, n) != key || !s.decodeOwner(text, into) {
		return 0, s.Refuse("key", key, fmt.Sprintf("isn't an owner, \"_\" and a number of %d digits", s.digits))
	}
	return n, nil
}

// decodeOwner decodes an owner's text into the pointer into. It is false for a text that encodeOwner doesn't return.
// Then the owner remains zero.
func (s *Sequence) decodeOwner(text string, into any) bool {
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
	back, err := s.encodeOwner(v.Interface())
	if err != nil || back != text {
		v.SetZero()
		return false
	}
	return true
}

// showValue returns a stored value for an error.
func showValue(v bson.RawValue) string {
	if v.Type == 0 {
		return "nothing"
	}
	return commands.Shorten(model.Shell(v))
}
