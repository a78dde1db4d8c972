package checks

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

var update = flag.Bool("update", false, "write the golden files")

// What each case generates, and its price, is what the file testdata/<type>.golden shows.
func TestGolden(t *testing.T) {
	groups := map[string][]Case{}
	packages := map[string]string{}
	for _, c := range registered {
		groups[c.group()] = append(groups[c.group()], c)
		pkg, _, _ := strings.Cut(c.Method, ".")
		if other := packages[c.group()]; other != "" && other != pkg {
			t.Fatalf("%s and %s both have a %s: give one of the golden files another name", other, pkg, c.group())
		}
		packages[c.group()] = pkg
	}
	for group, cases := range groups {
		t.Run(group, func(t *testing.T) { golden(t, group, cases) })
	}
	if *update {
		return
	}
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if groups[strings.TrimSuffix(filepath.Base(f), ".golden")] == nil {
			t.Errorf("%s belongs to no case", f)
		}
	}
}

func golden(t *testing.T, group string, cases []Case) {
	slices.SortStableFunc(cases, func(a, b Case) int { return strings.Compare(a.Method, b.Method) })
	var b strings.Builder
	for i, c := range cases {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "// %s: %s\n%s", c.Method, c.Reason, c.show(t, "nut"))
	}
	file := filepath.Join("testdata", group+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./internal/checks -update writes it", err)
	}
	if diff := lineDiff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-golden +generated; -update writes it):\n%s", file, diff)
	}
}

// show renders a case's value as a mongosh script, with what mongosh has no word for as comments.
func (c Case) show(t *testing.T, s string) string {
	var b strings.Builder
	comment := func(format string, args ...any) { fmt.Fprintf(&b, "//   "+format+"\n", args...) }
	v := c.value(s)
	switch v := v.(type) {
	case model.Write:
		b.WriteString(v.String() + "\n")
		showWrite(comment, v)
		comment("%s; %s", v.Cost(), model.NewPlan(v).Guarantee())
	case model.Plan:
		showPlan(&b, comment, v)
	case model.MergeInto:
		b.WriteString(v.String() + "\n")
		comment("%s; %s", model.NewPlan(v).Cost(), model.NewPlan(v).Guarantee())
	case model.Index:
		showIndexes(&b, comment, v)
	case []model.Index:
		showIndexes(&b, comment, v...)
	case model.IndexSet:
		b.WriteString(strings.TrimRight(v.String(), "\n") + "\n")
	case []model.Validation:
		for _, x := range v {
			b.WriteString(x.String() + "\n")
		}
	case model.Validation:
		b.WriteString(v.String() + "\n")
	case bson.D:
		b.WriteString(model.Shell(v) + "\n")
	case mongo.Pipeline:
		b.WriteString(model.Shell(v) + "\n")
	case model.Job:
		b.WriteString(v.String() + "\n")
		if v.Err != nil {
			break
		}
		for _, stage := range v.Stages {
			if stage.Do != nil {
				continue
			}
			p, err := c.planned(stage, s)
			if err != nil {
				t.Errorf("%s: %v", c.name(), err)
			}
			if len(p.Steps) > 0 || len(v.Stages) == 1 {
				comment("and for a batch:")
				showPlan(&b, comment, p)
			}
		}
	case model.Check:
		showCheck(&b, comment, v)
	case model.Stream:
		b.WriteString(v.String() + "\n")
	case interface {
		fmt.Stringer
		Cost() model.Cost
	}:
		b.WriteString(v.String() + "\n")
		comment("%s", v.Cost())
	default:
		if err := errorOf(v); err != nil {
			b.WriteString("// refused: " + err.Error() + "\n")
			break
		}
		if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
			for i := range list.Len() {
				one := Case{
					Method: c.Method, Reason: c.Reason, State: c.State,
					Make: func(string) any { return list.Index(i).Interface() },
				}
				b.WriteString(one.show(t, s))
			}
			return b.String()
		}
		p, err := c.decided(v, s)
		if err != nil {
			t.Errorf("%s: %v", c.name(), err)
		}
		showPlan(&b, comment, p)
	}
	return b.String()
}

func showCheck(b *strings.Builder, comment func(string, ...any), check model.Check) {
	comment("%s; rule: %s", check.Name, check.Rule)
	if text := check.String(); text != "" {
		b.WriteString(text + "\n")
	}
	if check.Pipeline != nil {
		comment("%s", check.Find().Cost())
	}
	if check.Age > 0 {
		comment("mends what has stood for %s", check.Age)
	}
	if check.Mend == nil && check.MendAll == nil {
		comment("no write mends it")
	}
}

func showWrite(comment func(string, ...any), w model.Write) {
	switch {
	case w.Done != nil:
		comment("expects %s match, or, done before: %s", []string{"any", "one"}[w.Expect], model.Shell(w.Done))
	case w.Expect == model.One:
		comment("expects one match")
	}
}

func showPlan(b *strings.Builder, comment func(string, ...any), p model.Plan) {
	for _, step := range p.Steps {
		b.WriteString(step.String() + "\n")
		if w, ok := step.(model.Write); ok {
			showWrite(comment, w)
		}
	}
	if len(p.Steps) == 0 {
		comment("nothing to do")
	}
	comment("%s; %s", p.Cost(), p.Guarantee())
	if p.Leaves != "" {
		comment("cut, it leaves %s", p.Leaves)
	}
	if p.InTx == nil {
		return
	}
	comment("in a transaction:")
	for _, step := range p.InTx {
		comment("  %s", step)
	}
	comment("  %s", p.CostTx())
}

func showIndexes(b *strings.Builder, comment func(string, ...any), list ...model.Index) {
	for _, x := range list {
		b.WriteString(x.String() + "\n")
		if x.Why != "" {
			comment("for %s", x.Why)
		}
	}
	if len(list) == 0 {
		comment("none")
	}
}
