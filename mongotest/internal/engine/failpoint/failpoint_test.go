package failpoint_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/failpoint"
)

// TestHit counts the hits of each mode in four calls, of which the second is about another command.
func TestHit(t *testing.T) {
	for _, c := range []struct {
		why  string
		mode any
		want string // x for a hit
	}{
		{"off", "off", "...."},
		{"always", "alwaysOn", "x.xx"},
		{"a number of times", bson.D{{Key: "times", Value: int32(2)}}, "x.x."},
		{"after a number of calls", bson.D{{Key: "skip", Value: int32(2)}}, "...x"},
		{"with certainty", bson.D{{Key: "activationProbability", Value: 1.0}}, "x.xx"},
		{"never", bson.D{{Key: "activationProbability", Value: 0.0}}, "...."},
	} {
		var set failpoint.Set
		if n, err := configure(&set, c.mode); n != 0 || err != nil {
			t.Fatalf("%s: Configure gave %d, %v", c.why, n, err)
		}
		got, hits := "", int64(0)
		for i := range 4 {
			if f := set.Hit(failpoint.Command, func(*failpoint.Failure) bool { return i != 1 }); f == nil {
				got += "."
			} else {
				got += "x"
				hits++
			}
		}
		if got != c.want {
			t.Errorf("%s hit at %s; want %s", c.why, got, c.want)
		}
		if n, _ := configure(&set, "off"); n != hits {
			t.Errorf("%s: Configure gave %d hits; want %d", c.why, n, hits)
		}
	}
}

func configure(set *failpoint.Set, mode any) (int64, error) {
	return set.Configure(failpoint.Command, &args.Reader{Place: "configureFailPoint", Doc: bson.D{
		{Key: "mode", Value: mode}, {Key: "data", Value: bson.D{{Key: "failCommands", Value: bson.A{"find"}}}},
	}})
}

func TestConfigureRefuses(t *testing.T) {
	var set failpoint.Set
	if _, err := set.Configure("other", &args.Reader{}); mongoerr.CodeOf(err) != mongoerr.FailPointSetFailed {
		t.Errorf("an unknown fail point gave %v", err)
	}
	for why, mode := range map[string]any{
		"an unknown mode": "on", "a negative number": bson.D{{Key: "times", Value: int32(-1)}}, "two modes": bson.D{
			{Key: "times", Value: int32(1)}, {Key: "skip", Value: int32(1)},
		},
	} {
		if _, err := configure(&set, mode); mongoerr.CodeOf(err) != mongoerr.BadValue {
			t.Errorf("%s gave %v", why, err)
		}
	}
}
