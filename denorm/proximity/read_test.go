package proximity_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/denorm/proximity"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// proximityElement is an element with words of what delimiters, patterns and characters there are.
func proximityElement(r *rand.Rand) bson.D {
	pieces := []string{
		"a", "b", "a", "b", " ", " ", "\t", "|", ",", ";", "%", "%7C", "\x00", ".", "é",
		"\U0001f9e9", "$x", "^", "\\", "-",
	}
	el := bson.D{}
	for _, f := range []string{"skill", "level"} {
		switch r.IntN(8) {
		case 0:
		case 1:
			el = append(el, testkit.E(f, nil))
		default:
			s := ""
			for range r.IntN(6) {
				s += pieces[r.IntN(len(pieces))]
			}
			el = append(el, testkit.E(f, s))
		}
	}
	return el
}

// A list comes back from its text, the server writes the same text, and queries find what a plain search of the list
// does.
func TestProximityThereAndBack(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(9, 9))
		lists := map[string]bson.A{}
		var stored []any
		for i := range 200 {
			list := bson.A{}
			for range r.IntN(4) {
				list = append(list, proximityElement(r))
			}
			text, err := openText.Text(list...)
			if err != nil {
				t.Fatal(err)
			}
			back := []bson.D{}
			if err := openText.Back(text, &back); err != nil || fmt.Sprint(back) != fmt.Sprint([]any(list)) {
				t.Fatalf("%v came back from %q as %v, %v", list, text, back, err)
			}
			id := fmt.Sprint("r", i)
			lists[id] = list
			stored = append(stored, bson.D{testkit.E("_id", id), testkit.E("skills", list)})
		}
		testkit.Seed(t, db, testkit.Docs{"resumes": stored})
		if err := testkit.CheckJob(openText.Checks()[0])(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		texts, err := db.Collection("resumes").Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		var written []struct {
			ID   string `bson:"_id"`
			Text string `bson:"skillText"`
		}
		if err := texts.All(t.Context(), &written); err != nil {
			t.Fatal(err)
		}
		for _, w := range written {
			if want, err := openText.Text(lists[w.ID]...); err != nil || w.Text != want {
				t.Fatalf("%v is %q on the server, %q here, %v", lists[w.ID], w.Text, want, err)
			}
		}
		for range 60 {
			words := []string{"a", "b", "aa", "a,b", ".", "é", "%", "a|", ";", "\x00"}
			a, b, between, order := words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(4),
				proximity.WordOrder(r.IntN(2))
			found, err := openText.Near(a, b, between, order).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, d := range found {
				got[d[0].Value.(string)] = true
			}
			for id, list := range lists {
				if want := proximityHolds(list, a, b, between, order); got[id] != want {
					t.Errorf("%q and %q, %d between, order %d: %v is found %v, want %v", a, b, between,
						order, list, got[id], want)
				}
			}
		}
	})
}

// proximityHolds says by plain comparison whether one element has the words near each other.
func proximityHolds(list bson.A, a, b string, between int, order proximity.WordOrder) bool {
	for _, el := range list {
		var words []string
		for _, f := range el.(bson.D) {
			if s, ok := f.Value.(string); ok {
				words = append(words, strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || c == '\t' })...)
			}
		}
		for i := range words {
			for j := range words {
				d := j - i
				if i == j || words[i] != a || words[j] != b {
					continue
				}
				if d > 0 && d-1 <= between || d < 0 && -d-1 <= between && order == proximity.AnyOrder {
					return true
				}
			}
		}
	}
	return false
}

func TestProximityBackRefuses(t *testing.T) {
	testkit.Parallel(t)
	var list []bson.D
	for _, text := range []string{"", "x", "|a,b", "|a|", "|a,b,c|", "|a%2,b|", "|%2c,b|", "|;;;,b|", "|a;b,c|", "||"} {
		testkit.WantError(t, openText.Back(text, &list), testkit.ErrRefused)
	}
	var wrong []int
	testkit.WantError(t, openText.Back("|a,b|", &wrong), testkit.ErrRefused)
	_, err := openText.Text(1)
	testkit.WantError(t, err, testkit.ErrRefused)
	var plain []*string
	if err := langText.Back("|;;|en|", &plain); err != nil || len(plain) != 2 || plain[0] != nil || *plain[1] != "en" {
		t.Errorf("plain %v, %v", plain, err)
	}
}

// A text that is taken back is the text of what came back.
func FuzzProximityBack(f *testing.F) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 2))
		text, err := openText.Text(proximityElement(r), proximityElement(r))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var list []any
		if openText.Back(text, &list) != nil {
			return
		}
		if again, err := openText.Text(list...); err == nil && again != text {
			t.Errorf("%q came back as %v, which is %q", text, list, again)
		}
	})
}
