package direction

import (
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	type order int8
	for _, c := range []struct {
		v    any
		want int
	}{
		{1, 1}, {-1, -1}, {int32(1), 1}, {int64(-1), -1}, {1.0, 1}, {-1.0, -1}, {float32(1), 1}, {uint8(1), 1},
		{order(-1), -1},
		{0, 0}, {2, 0}, {1.5, 0}, {math.NaN(), 0}, {uint(2), 0}, {"1", 0}, {"-1", 0}, {"hashed", 0}, {nil, 0},
		{true, 0}, {[]int{1}, 0}, {(*int)(nil), 0},
	} {
		if got := Parse(c.v); got != c.want {
			t.Errorf("Parse(%#v) is %d, want %d", c.v, got, c.want)
		}
	}
}
