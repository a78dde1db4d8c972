package checks

import (
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// CONTRIBUTING.md, Words: the shape of what is exported, beside its verbs.

// runs are the functions and methods outside package model that are handed a database, with the reason why none of them
// is a value that runs: a Find, an Aggregate, a Plan, a Change or a Job.
var runs = map[string]string{
	"advise.SurveyDatabase":   "declares nothing: it finds what a database holds",
	"advise.Survey.Run":       "writes nothing, reads samples, and may read a secondary, which a Job doesn't",
	"outbox.Relay.Run":        "runs until its context ends, and calls a function of the caller's",
	"design.Runner.Fill":      "stores made-up data for a trial",
	"design.Runner.Run":       "carries out an operation of a trial, of several reads and writes",
	"geofield.Nearest.All":    "asks in growing circles until it has enough",
	"geofield.Nearest.Each":   "asks in growing circles until it has enough",
	"geofield.Within.All":     "reads cells, and tells exactly what lies within in Go",
	"geofield.Within.Count":   "reads cells, and tells exactly what lies within in Go",
	"geofield.Within.Each":    "reads cells, and tells exactly what lies within in Go",
	"keys.Sequence.Allocator": "holds numbers in memory, for callers of its own Next",
	"paths.DocumentTree.Dump": "puts the list in order in Go",
	"paths.RollUp.Children":   "adds up along several reads",
	"paths.Tree.Dump":         "streams a whole tree, and puts it in order in Go",
	"paths.Tree.DumpIDs":      "streams a whole tree, and puts it in order in Go",
	"paths.Tree.Settled":      "runs a read of the caller's",
	"join.Join.Each":          "joins in Go what several queries return",
	"join.Join.Load":          "joins in Go what several queries return",
}

// twoNames are names that would be a second one for what model names.
var twoNames = regexp.MustCompile(`^Err.*(Full|Taken|Exists|Stale|Missing|NotFound|NoNode)`)

// sides are methods that belong on the value of a side.
var sides = regexp.MustCompile(`^(Left|Right)[A-Z]|(OfLeft|OfRight)$`)

func TestShapes(t *testing.T) {
	for _, p := range libraries(t) {
		for _, name := range p.Scope().Names() {
			obj := p.Scope().Lookup(name)
			if !obj.Exported() {
				continue
			}
			switch obj := obj.(type) {
			case *types.Var:
				if p.Name() != "model" && twoNames.MatchString(name) {
					t.Errorf("%s.%s: wrap model's error instead", p.Name(), name)
				}
			case *types.Func:
				checkShape(t, p, p.Name()+"."+name, obj)
			case *types.TypeName:
				if obj.IsAlias() || types.IsInterface(obj.Type()) {
					continue
				}
				set := types.NewMethodSet(types.NewPointer(obj.Type()))
				for i := range set.Len() {
					if m, ok := set.At(i).Obj().(*types.Func); ok && m.Exported() {
						checkShape(t, p, p.Name()+"."+name+"."+m.Name(), m)
					}
				}
			}
		}
	}
	for name := range runs {
		if !ran[name] {
			t.Errorf("%s is handed no database any more: take it out of the list", name)
		}
	}
}

var ran = map[string]bool{}

func checkShape(t *testing.T, p *types.Package, full string, f *types.Func) {
	t.Helper()
	sig := f.Signature()
	if sides.MatchString(f.Name()) {
		t.Errorf("%s: have Left and Right return a value for a side, with one method", full)
	}
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		text := v.Type().String()
		last := i == sig.Params().Len()-1
		switch spec := strings.HasSuffix(text, "Spec") || strings.HasSuffix(text, "Options"); {
		case spec && sig.Variadic() && last:
			t.Errorf("%s: a spec is one plain struct, always given", full)
		case spec && strings.HasPrefix(f.Name(), "New") && !last && !(sig.Variadic() && i+2 == sig.Params().Len()):
			t.Errorf("%s: a constructor's spec is its last argument, but for a list", full)
		case v.Name() == "before" && text != "time.Time" && p.Name() != "paths":
			t.Errorf("%s: before is a moment; what was read last is after", full)
		case v.Name() == "limit" || v.Name() == "skip" || v.Name() == "page":
			t.Errorf("%s: %s: read on by after, and n", full, v.Name())
		case v.Name() == "after" && p.Name() != "model" && p.Name() != "paths" && i+2 != sig.Params().Len():
			t.Errorf("%s: after and n are the last arguments", full)
		case (strings.HasSuffix(text, "mongo.Database") || strings.HasSuffix(text, "model.DB")) && p.Name() != "model" &&
			p.Name() != "modeltest":
			ran[full] = true
			if runs[full] == "" {
				t.Errorf("%s is handed a database: return a value that runs, or say in the list why not", full)
			}
		}
	}
}
