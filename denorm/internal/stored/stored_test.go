package stored

import (
	"reflect"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Documents without a Go type of their own are documents too: their zero value is nil, and stored as null.
func TestIsDocumentType(t *testing.T) {
	for v, want := range map[any]bool{
		reflect.TypeFor[bson.D](): true, reflect.TypeFor[bson.M](): true, reflect.TypeFor[map[string]int](): true,
		reflect.TypeFor[bson.Raw](): true, reflect.TypeFor[struct{ A int }](): true, reflect.TypeFor[bson.A](): false,
		reflect.TypeFor[[]string](): false, reflect.TypeFor[[]byte](): false, reflect.TypeFor[int](): false,
		reflect.TypeFor[time.Time](): false, reflect.TypeFor[bson.ObjectID](): false,
	} {
		if got := IsDocumentType(v.(reflect.Type)); got != want {
			t.Errorf("%v: %v", v, got)
		}
	}
}
