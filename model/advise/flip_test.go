package advise_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

func TestChangeApply(t *testing.T) {
	r := advise.Relation{}
	for _, c := range []advise.Change{
		{"Parent.Has.Max", nil, 1.5}, {"Atomic", nil, int64(1)}, {"Parent.Shows", nil, true}, {"Nothing", nil, true},
		{"", nil, true}, {"Child.Newest", nil, true}, {"Parent", nil, "p"}, {"Child.Newest.Nothing", nil, true},
		{"Parent.Copied.Nothing", nil, true},
	} {
		var bad *model.ValueError
		if _, err := (advise.Flip{c}).Apply(r); !errors.As(err, &bad) || bad.Field != c.Field {
			t.Errorf("%s: %v", c, err)
		}
	}
	for _, c := range []advise.Change{
		{"Parent.Has.Typical", int64(0), int64(2)}, {"Child.Has.Days", 0.0, 2.5}, {"Child.Newest.Drop", false, true},
		{"Parent.Copied.ReadsPerChange", 0.0, 3.0}, {"Child.Copied.Bytes", int64(0), int64(9)},
		{"Child.Page", int64(0), int64(4)}, {"Atomic", false, true},
	} {
		there, err := (advise.Flip{c}).Apply(r)
		back, _ := (advise.Flip{{Field: c.Field, To: c.From}}).Apply(there)
		if err != nil || there == r || back != r ||
			!strings.Contains(strings.NewReplacer("{", " ", "}", " ").Replace(fmt.Sprintf("%+v ", there)),
				c.Field[strings.LastIndex(c.Field, ".")+1:]+":"+fmt.Sprint(c.To)+" ") {
			t.Errorf("%s: %+v, %v", c, there, err)
		}
	}
}
