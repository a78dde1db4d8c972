package advise_test

import (
	"testing"

	"github.com/docmodel/docmodel/model/advise"
)

func TestChoiceHas(t *testing.T) {
	c := advise.ParentRef | advise.Subset
	for part, want := range map[advise.Choice]bool{
		advise.ParentRef: true, advise.Subset: true, c: true, advise.Embed: false,
		advise.ChildRefs: false, advise.Counter: false, advise.ParentRef | advise.Counter: false, 0: true,
	} {
		if c.Has(part) != want {
			t.Errorf("Has(%s): %v", part, !want)
		}
	}
	if c.Structure() != advise.ParentRef || c.String() != "parent reference, the newest in the parent" ||
		advise.Choice(0).String() != "none" {
		t.Errorf("%s", c)
	}
}
