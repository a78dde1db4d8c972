package bsonval_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	. "github.com/docmodel/docmodel/internal/bsonval"
)

func TestAppendRefuses(t *testing.T) {
	for reason, d := range map[string]bson.D{
		"a Go type without BSON form": {{Key: "a", Value: 1}},
		"Missing":                     {{Key: "a", Value: Missing}},
		"NUL in a name":               {{Key: "a\x00", Value: nil}},
		"NUL in a pattern":            {{Key: "a", Value: bson.Regex{Pattern: "\x00"}}},
	} {
		if _, err := Append(nil, d); err == nil {
			t.Errorf("%s: no error", reason)
		}
	}
}
