package advise_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

// The worst case is what the largest value measures, to the byte.
func TestBudgetWorstIsMeasured(t *testing.T) {
	var doc budgetDoc
	newMaximal(budgetBounds).set(reflect.ValueOf(&doc).Elem(), "")
	data, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	b := advise.NewBudget(budgetDocs, budgetBounds...)
	w := b.Worst()
	if w.Bytes != int64(len(data)) || len(w.Open) != 0 || !w.Fits {
		t.Errorf("worst %d, measured %d\n%s", w.Bytes, len(data), w)
	}
	total := int64(5)
	for _, p := range w.Parts {
		total += p.Bytes
		value, err := bson.Raw(data).LookupErr(p.Path)
		if err != nil {
			continue // an inlined map, and what isn't stored
		}
		if got := int64(len(value.Value) + len(p.Path) + 2); got != p.Bytes {
			t.Errorf("%s: worst %d, measured %d", p.Path, p.Bytes, got)
		}
	}
	if total != w.Bytes {
		t.Errorf("the parts are %d, not %d", total, w.Bytes)
	}
	if size, err := b.Size(&doc); err != nil || size != w.Bytes {
		t.Errorf("Size: %d, %v", size, err)
	}
	if size, err := advise.Size(doc); err != nil || size != w.Bytes {
		t.Errorf("Size: %d, %v", size, err)
	}
	if got := deepest(data); got != w.Depth {
		t.Errorf("depth %d, measured %d", w.Depth, got)
	}
}

// deepest counts the levels of documents and arrays.
func deepest(doc bson.Raw) int {
	elems, _ := doc.Elements()
	below := 0
	for _, e := range elems {
		if v := e.Value(); v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
			below = max(below, deepest(v.Value))
		}
	}
	return 1 + below
}

// Each bound counts: one more of it, and the worst case is still what is measured.
func TestBudgetEachBound(t *testing.T) {
	for i, bound := range budgetBounds {
		bounds := append([]advise.Bound(nil), budgetBounds...)
		if bound.Items > 0 {
			bounds[i].Items += 95
		}
		if bound.Bytes > 0 {
			bounds[i].Bytes += 17
		}
		if bound.Key > 0 {
			bounds[i].Key++
		}
		var doc budgetDoc
		newMaximal(bounds).set(reflect.ValueOf(&doc).Elem(), "")
		data, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := advise.NewBudget(budgetDocs, bounds...).Worst().Bytes; got != int64(len(data)) {
			t.Errorf("%s: worst %d, measured %d", bound.Path, got, len(data))
		}
	}
}

// Without a bound its path is named, and nothing else.
func TestBudgetNamesWhatIsOpen(t *testing.T) {
	for i, bound := range budgetBounds {
		bounds := append(append([]advise.Bound(nil), budgetBounds[:i]...), budgetBounds[i+1:]...)
		w := advise.NewBudget(budgetDocs, bounds...).Worst()
		if len(w.Open) == 0 || w.Fits {
			t.Errorf("%s isn't named", bound.Path)
		}
		for _, o := range w.Open {
			if o.Path != bound.Path || o.Why == "" || !strings.Contains(w.String(), o.Path+" has no bound: "+o.Why) {
				t.Errorf("without %s: %+v", bound.Path, o)
			}
		}
	}
}

// Room is where the worst case crosses 16 MB.
func TestBudgetRoom(t *testing.T) {
	for i, bound := range budgetBounds {
		b := advise.NewBudget(budgetDocs, budgetBounds...)
		room := b.Room(bound.Path)
		with := func(n int64) int64 {
			bounds := append([]advise.Bound(nil), budgetBounds...)
			if bound.Items > 0 {
				bounds[i].Items = n
			} else if bound.Bytes > 0 {
				bounds[i].Bytes = n
			}
			return advise.NewBudget(budgetDocs, bounds...).Worst().Bytes
		}
		if bound.Items == 0 && bound.Bytes == 0 {
			continue
		}
		if with(room) > model.MaxDocument || with(room+1) <= model.MaxDocument || room == 0 {
			t.Errorf("%s: room %d, %d bytes and %d", bound.Path, room, with(room), with(room+1))
		}
	}
}

type budgetComment struct {
	Author string   `bson:"author"`
	Text   string   `bson:"text"`
	Likes  []string `bson:"likes,omitempty"`
}

type budgetPost struct {
	ID       string          `bson:"_id"`
	Title    string          `bson:"title"`
	Comments []budgetComment `bson:"comments"`
	Meta     any             `bson:"meta,omitempty"`
}

type budgetTree struct {
	ID      string       `bson:"_id"`
	Replies []budgetTree `bson:"replies"`
}

func TestBudgetUnbounded(t *testing.T) {
	posts := model.NewCollection[budgetPost, string]("posts")
	b := advise.NewBudget(posts, advise.Bound{Path: "_id", Bytes: 10}, advise.Bound{Path: "title", Bytes: 100},
		advise.Bound{Path: "comments.author", Bytes: 20}, advise.Bound{Path: "comments.text", Bytes: 500})
	w := b.Worst()
	var paths []string
	for _, o := range w.Open {
		paths = append(paths, o.Path)
	}
	if got := strings.Join(paths, " "); got != "comments comments.likes comments.likes meta" {
		t.Errorf("open: %s", got)
	}
	// Without likes a comment is {author, text}: measured.
	one, _ := advise.Size(budgetComment{Author: bytesOf(20), Text: bytesOf(500)})
	if got := b.Item("comments"); got != one {
		t.Errorf("an item has %d, measured %d", got, one)
	}
	room := b.Room("comments")
	full := budgetPost{ID: bytesOf(10), Title: bytesOf(100), Comments: make([]budgetComment, room+1)}
	for i := range full.Comments {
		full.Comments[i] = budgetComment{Author: bytesOf(20), Text: bytesOf(500)}
	}
	over, _ := b.Size(full)
	full.Comments = full.Comments[:room]
	within, _ := b.Size(full)
	if within > model.MaxDocument || over <= model.MaxDocument {
		t.Errorf("%d comments: %d and %d bytes", room, within, over)
	}
	if d := b.Days("comments", room-50, 10); d != 5 {
		t.Errorf("days: %v", d)
	}
	if b.Days("comments", room, 10) != 0 || !math.IsInf(b.Days("comments", 3, 0), 1) {
		t.Error("days at the ends")
	}
	likes := b.Room("comments.likes") // of one comment, with names that have no bound: empty
	with := func(n int64) int64 {
		size, _ := b.Size(budgetPost{
			ID: bytesOf(10), Title: bytesOf(100),
			Comments: []budgetComment{{bytesOf(20), bytesOf(500), make([]string, n)}},
		})
		return size
	}
	if with(likes) > model.MaxDocument || with(likes+1) <= model.MaxDocument {
		t.Errorf("%d likes of one comment: %d bytes, and %d", likes, with(likes), with(likes+1))
	}
}

func TestBudgetWithinItself(t *testing.T) {
	trees := model.NewCollection[budgetTree, string]("trees")
	w := advise.NewBudget(trees, advise.Bound{Path: "_id", Bytes: 10}, advise.Bound{Path: "replies", Items: 3}).Worst()
	if len(w.Open) != 1 || w.Open[0].Path != "replies" || !strings.Contains(w.Open[0].Why, "within itself") || w.Fits {
		t.Errorf("%s", w)
	}
}

// A document that is too large, and numbers beyond any document.
func TestBudgetTooLarge(t *testing.T) {
	posts := model.NewCollection[budgetPost, string]("posts")
	bounds := []advise.Bound{
		{Path: "_id", Bytes: 10}, {Path: "title", Bytes: 100}, {Path: "meta", Bytes: 50},
		{Path: "comments", Items: math.MaxInt64}, {Path: "comments.author", Bytes: 20},
		{Path: "comments.text", Bytes: math.MaxInt64}, {Path: "comments.likes", Items: math.MaxInt64, Bytes: math.MaxInt64},
	}
	b := advise.NewBudget(posts, bounds...)
	if w := b.Worst(); w.Bytes != math.MaxInt64 || w.Fits || b.Room("comments") != 0 || b.Room("title") != 0 {
		t.Errorf("%s", w)
	}
}

func TestBudgetOptions(t *testing.T) {
	type doc struct {
		ID   string  `json:"_id"`
		Name string  `json:"full_name"`
		N    int64   `json:"n"`
		List []int64 `json:"list"`
	}
	c := model.NewCollectionWith[doc, string]("docs", model.CollectionOptions{
		BSON: &options.BSONOptions{UseJSONStructTags: true, IntMinSize: true, OmitEmpty: true},
	})
	b := advise.NewBudget(c, advise.Bound{Path: "_id", Bytes: 3}, advise.Bound{Path: "full_name", Bytes: 7},
		advise.Bound{Path: "list", Items: 2})
	size, err := b.Size(doc{"abc", "abcdefg", math.MaxInt64, []int64{math.MinInt64, math.MaxInt64}})
	if got := b.Worst().Bytes; err != nil || got != size {
		t.Errorf("worst %d, measured %d, %v", got, size, err)
	}
	if small, _ := b.Size(doc{ID: "abc", N: 1}); small >= size-16 {
		t.Errorf("the options don't count: %d", small)
	}
}

func TestBudgetDeclarations(t *testing.T) {
	for _, test := range []struct {
		reason string
		bounds []advise.Bound
		want   string
	}{
		{"a path that isn't there", []advise.Bound{{Path: "nam", Bytes: 1}}, "no such path"},
		{"a field that isn't stored", []advise.Bound{{Path: "skipped", Bytes: 1}}, "no such path"},
		{"two bounds", []advise.Bound{{Path: "name", Bytes: 1}, {Path: "name", Bytes: 2}}, "two bounds"},
		{"items of a string", []advise.Bound{{Path: "name", Items: 1}}, "Items is for"},
		{"items of a Go array", []advise.Bound{{Path: "pair", Items: 1}}, "as many items as its type"},
		{"bytes of a number", []advise.Bound{{Path: "i32", Bytes: 1}}, "Bytes is for"},
		{"bytes of documents", []advise.Bound{{Path: "inners", Items: 1, Bytes: 5}}, "Bytes is for"},
		{"keys of an array", []advise.Bound{{Path: "tags", Items: 1, Key: 3}}, "Key is for"},
		{"nothing", []advise.Bound{{Path: "tags"}}, "declares nothing"},
		{"negative", []advise.Bound{{Path: "tags", Items: -1}}, "not negative"},
	} {
		wantDeclaration(t, test.reason, test.want, func() { advise.NewBudget(budgetDocs, test.bounds...) })
	}
	b := advise.NewBudget(budgetDocs, budgetBounds...)
	wantDeclaration(t, "an item of a string", "neither an array nor a map", func() { b.Item("name") })
	wantDeclaration(t, "the room of a number", "no bound can be declared", func() { b.Room("i32") })
	wantDeclaration(t, "an open document", "nothing is known", func() {
		advise.NewBudget(model.NewCollection[bson.D, string]("open"))
	})
}

func wantDeclaration(t *testing.T, reason, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		var bad *model.DeclarationError
		if err, _ := recover().(error); !errors.As(err, &bad) || !strings.Contains(bad.Problem, want) {
			t.Errorf("%s: %v", reason, err)
		}
	}()
	f()
}

func TestSizeRefuses(t *testing.T) {
	for _, v := range []any{"text", 5, nil, func() {}} {
		var bad *model.ValueError
		if _, err := advise.Size(v); !errors.As(err, &bad) {
			t.Errorf("%T: %v", v, err)
		}
	}
	for v, want := range map[any]int64{budgetInner{}: 12} {
		if got, err := advise.Size(v); err != nil || got != want {
			t.Errorf("%d, %v", got, err)
		}
	}
	if got, err := advise.Size([]int32{1, 2}); err != nil || got != 5+2*7 {
		t.Errorf("%d, %v", got, err)
	}
}

// The sum over digits is what counting one by one gives.
func TestArrayBytes(t *testing.T) {
	want, each := int64(5), int64(7)
	for n := range int64(12000) {
		if got := advise.ArrayBytes(n, each); got != want {
			t.Fatalf("%d: %d, want %d", n, got, want)
		}
		want += 2 + int64(len(fmt.Sprint(n))) + each
	}
	if advise.ArrayBytes(math.MaxInt64, 1) != math.MaxInt64 || advise.ArrayBytes(2, math.MaxInt64-5) != math.MaxInt64 {
		t.Error("what doesn't fit a number")
	}
}

// A document keeps to its bounds or not: each bound lowered by one is broken by the maximal document, and by nothing
// else.
func TestBudgetBreaches(t *testing.T) {
	var doc budgetDoc
	newMaximal(budgetBounds).set(reflect.ValueOf(&doc).Elem(), "")
	if found, err := advise.NewBudget(budgetDocs, budgetBounds...).Breaches(doc); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	for i, bound := range budgetBounds {
		for _, lower := range []struct {
			name string
			at   func(b *advise.Bound) *int64
		}{
			{"Items", func(b *advise.Bound) *int64 { return &b.Items }},
			{"Bytes", func(b *advise.Bound) *int64 { return &b.Bytes }},
			{"Key", func(b *advise.Bound) *int64 { return &b.Key }},
		} {
			bounds := append([]advise.Bound(nil), budgetBounds...)
			limit := lower.at(&bounds[i])
			if *limit < 2 {
				continue
			}
			*limit--
			found, err := advise.NewBudget(budgetDocs, bounds...).Breaches(&doc)
			want := advise.Breach{Path: bound.Path, Bound: lower.name, Max: *limit, Got: *limit + 1}
			if err != nil || len(found) != 1 || found[0] != want {
				t.Errorf("want %+v, got %+v, %v", want, found, err)
			}
		}
	}
	b := advise.NewBudget(model.NewCollection[budgetPost, string]("posts"), advise.Bound{Path: "comments", Items: 2})
	found, err := b.Breaches(bson.D{
		{Key: "_id", Value: "a"}, {Key: "other", Value: int32(1)}, {Key: "comments", Value: bson.A{1, 2, 3}},
	})
	if err != nil || len(found) != 2 || found[0] != (advise.Breach{"other", "Type", 0, 5}) ||
		found[1] != (advise.Breach{"comments", "Items", 2, 3}) {
		t.Errorf("%+v, %v", found, err)
	}
	long := advise.NewBudget(model.NewCollection[budgetPost, string]("posts"),
		advise.Bound{Path: "comments.text", Bytes: 4})
	found, err = long.Breaches(budgetPost{
		Comments: []budgetComment{{Text: bytesOf(5)}, {Text: bytesOf(9)}, {Text: bytesOf(7)}},
	})
	if err != nil || len(found) != 1 || found[0] != (advise.Breach{"comments.text", "Bytes", 4, 9}) {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := b.Breaches("text"); err == nil {
		t.Error("a string is no document")
	}
}
