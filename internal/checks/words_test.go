package checks

import (
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// otherChecks are exported methods whose names begin as those of checks do, and that are none: with what they do.
var otherChecks = map[string]string{
	"model.Collection.CheckID":  "validates an id that a caller hands in",
	"keys.Shard.Check":          "looks at declarations, not at documents",
	"paths.Tree.CheckLists":     "is a check, of lists that become a tree by Adopt",
	"paths.DocumentTree.Repair": "mends one owner's list with new ids of the caller's",
}

var checkWords = regexp.MustCompile(`^(Check|Repair|Mend|Oversized|Malformed|Repeated|Orphans|Suspects)`)

// CONTRIBUTING.md, Words: what finds and mends is a model.Check, which a technique returns from Checks. An operation's
// token, op, is the last argument but for functions.
func TestWords(t *testing.T) {
	names, methods := 0, map[string]int{}
	for _, p := range libraries(t) {
		for _, name := range p.Scope().Names() {
			obj := p.Scope().Lookup(name)
			if !obj.Exported() {
				continue
			}
			names++
			typ, ok := obj.(*types.TypeName)
			if !ok || typ.IsAlias() || types.IsInterface(typ.Type()) {
				continue
			}
			set := types.NewMethodSet(types.NewPointer(typ.Type()))
			for i := range set.Len() {
				m, ok := set.At(i).Obj().(*types.Func)
				if !ok || !m.Exported() {
					continue
				}
				if len(set.At(i).Index()) == 1 {
					names++
				}
				full := p.Name() + "." + name + "." + m.Name()
				methods[p.Name()+"."+name]++
				checkWord(t, full, m)
			}
		}
	}
	most := ""
	for name, n := range methods {
		if n > methods[most] {
			most = name
		}
	}
	t.Logf("%d exported names; %s has the most methods, %d", names, most, methods[most])
}

func checkWord(t *testing.T, full string, m *types.Func) {
	t.Helper()
	sig := m.Signature()
	if m.Name() == "Checks" {
		if sig.Params().Len() > 0 || sig.Results().Len() != 1 ||
			!strings.HasSuffix(sig.Results().At(0).Type().String(), "[]"+modelPath+".Check") {
			t.Errorf("%s is not Checks() []model.Check", full)
		}
		return
	}
	if _, other := otherChecks[full]; checkWords.MatchString(m.Name()) && !other {
		t.Errorf("%s finds or mends: return a model.Check from Checks", full)
	}
	for i := range sig.Params().Len() {
		if v := sig.Params().At(i); v.Name() == "op" && i < sig.Params().Len()-1 &&
			strings.HasSuffix(v.Type().String(), "bson.ObjectID") {
			if _, isFunc := sig.Params().At(i + 1).Type().Underlying().(*types.Signature); !isFunc {
				t.Errorf("%s: the token op is not the last argument before functions", full)
			}
		}
	}
}
