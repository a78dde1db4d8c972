package sequence

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var ownerText = strings.NewReplacer("%", "%25", "_", "%5F")

// text is an owner as the beginning of a key; it holds no "_".
func (s *Sequence) text(owner any) (string, error) {
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

func (s *Sequence) checkNumber(n int64) error {
	if n < 0 || n > s.Max {
		return s.Refuse("n", n, fmt.Sprintf("must be from 0 to %d", s.Max))
	}
	return nil
}

// Key is the _id of an owner's n-th document.
func (s *Sequence) Key(owner any, n int64) (string, error) {
	text, err := s.text(owner)
	if err == nil {
		err = s.checkNumber(n)
	}
	if err != nil {
		return "", err
	}
	return s.numbered(text, n), nil
}

func (s *Sequence) numbered(text string, n int64) string {
	return fmt.Sprintf("%s_%0*d", text, s.digits, n)
}

// Parse takes a key apart; into is a pointer to an owner.
func (s *Sequence) Parse(key string, into any) (int64, error) {
	text, digits, _ := strings.Cut(key, "_")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || s.checkNumber(n) != nil || s.numbered(text, n) != key || !s.owner(text, into) {
		return 0, s.Refuse("key", key, fmt.Sprintf("isn't an owner, \"_\" and a number of %d digits", s.digits))
	}
	return n, nil
}

// owner reads the owner back from its text.
func (s *Sequence) owner(text string, into any) bool {
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

// isDay reports whether the calendar has a day, within the years 0000 to 9999.
func isDay(day string) bool {
	_, err := time.Parse(time.DateOnly, day)
	return err == nil
}

// DayKey is the _id of an owner's bucket of a day.
func (s *Sequence) DayKey(owner any, day string) (string, error) {
	text, err := s.text(owner)
	if err == nil && !isDay(day) {
		err = s.Refuse("day", day, "isn't a day like 2006-01-02")
	}
	if err != nil {
		return "", err
	}
	return text + "_" + day, nil
}

// ParseDay takes a bucket's key apart; into is a pointer to an owner.
func (s *Sequence) ParseDay(key string, into any) (string, error) {
	text, day, _ := strings.Cut(key, "_")
	if !isDay(day) || !s.owner(text, into) {
		return "", s.Refuse("key", key, "isn't an owner, \"_\" and a day like 2006-01-02")
	}
	return day, nil
}

// show is a value for an error.
func show(v bson.RawValue) string {
	if v.Type == 0 {
		return "nothing"
	}
	return commands.Shorten(model.Shell(v))
}
