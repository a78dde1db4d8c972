package checks

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// harmless is a string that no key, operator or type name holds.
const harmless = "Zebrafish"

// The same input gives the same bytes, from several goroutines at once.
func TestSameInputSameBytes(t *testing.T) {
	for _, c := range registered {
		t.Run(c.name(), func(t *testing.T) {
			want := canonical(t, c, c.value(harmless), harmless)
			got := make([]string, 4)
			var wait sync.WaitGroup
			for i := range got {
				wait.Go(func() { got[i] = canonical(t, c, c.value(harmless), harmless) })
			}
			wait.Wait()
			for _, g := range got {
				if g != want {
					t.Fatalf("two calls differ (-one +another):\n%s", lineDiff(want, g))
				}
			}
		})
	}
}

// One technique can be asked, and one value be read, by several goroutines at once: the race detector watches this test
// in CI.
func TestValuesCanBeShared(t *testing.T) {
	for _, c := range registered {
		t.Run(c.name(), func(t *testing.T) {
			v := c.value(harmless)
			want := canonical(t, c, v, harmless)
			var wait sync.WaitGroup
			for range 4 {
				wait.Go(func() {
					for _, x := range []any{v, c.value(harmless)} {
						if got := canonical(t, c, x, harmless); got != want {
							t.Errorf("the value changed by being read, or made again (-first +then):\n%s", lineDiff(want, got))
						}
					}
				})
			}
			wait.Wait()
		})
	}
}

// A call changes nothing that it is handed, not even the room behind a slice, and what it returns doesn't change with
// it.
func TestInputsAreNeitherChangedNorKept(t *testing.T) {
	for _, c := range registered {
		if c.From == nil {
			continue
		}
		t.Run(c.name(), func(t *testing.T) {
			inputs, call := c.From(harmless)
			before := dump(inputs...)
			v := call()
			if after := dump(inputs...); after != before {
				t.Fatalf("the call changed its input (-before +after):\n%s", lineDiff(before, after))
			}
			want := canonical(t, c, v, harmless)
			scribble(inputs...)
			if dump(inputs...) == before {
				t.Fatal("the case's inputs can't be changed: hand slices, maps and pointers to From")
			}
			if got := canonical(t, c, v, harmless); got != want {
				t.Fatalf("what was generated changed with the caller's value (-before +after):\n%s", lineDiff(want, got))
			}
		})
	}
}

// canonical is a value as text: as mongosh takes it, and every part of it in BSON. A value that panics is one too.
func canonical(t *testing.T, c Case, v any, s string) (text string) {
	var b strings.Builder
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint("panic: ", p)
		}
	}()
	if text, ok := v.(fmt.Stringer); ok {
		b.WriteString(text.String())
	}
	parts, err := c.parts(v, s)
	fmt.Fprintf(&b, "\nindex %s, error %v\n", indexOf(v), err)
	for _, p := range parts {
		raw, err := bson.Marshal(bson.D{{Key: p.name, Value: p.value}})
		if err != nil {
			t.Errorf("%s: %s can't be encoded: %v", c.name(), p.name, err)
		}
		fmt.Fprintf(&b, "%s %x\n", model.Shell(bson.Raw(raw)), raw)
	}
	return b.String()
}

func lineDiff(a, b string) string { return cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n")) }
