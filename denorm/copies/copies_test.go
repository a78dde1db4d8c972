package copies_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the tests of copies are about: sources, and documents that have room for copies of each form.
type (
	origin struct {
		ID   string    `bson:"_id"`
		Name string    `bson:"name,omitempty"`
		Tags []string  `bson:"tags,omitempty"`
		Info info      `bson:"info,omitempty"`
		V    int64     `bson:"v,omitempty"`
		At   time.Time `bson:"at,omitempty"`
		Docs []string  `bson:"docs,omitempty"`
		Note string    `bson:"note,omitempty"`
	}
	info struct {
		City string `bson:"city,omitempty"`
	}
	holder struct {
		ID     string    `bson:"_id"`
		Src    string    `bson:"src,omitempty"`
		Name   string    `bson:"name,omitempty"`
		Tags   []string  `bson:"tags,omitempty"`
		Info   info      `bson:"info,omitempty"`
		V      int64     `bson:"v,omitempty"`
		At     time.Time `bson:"at,omitempty"`
		Items  []held    `bson:"items,omitempty"`
		Groups []group   `bson:"groups,omitempty"`
		Rev    int64     `bson:"rev,omitempty"` // an embed.Versioned's
	}
	group struct {
		Title string `bson:"title"`
		Items []held `bson:"items,omitempty"`
	}
	held struct {
		ID   string   `bson:"id"`
		Note string   `bson:"note,omitempty"` // not of the copy
		Name string   `bson:"name,omitempty"`
		Tags []string `bson:"tags,omitempty"`
		Info info     `bson:"info,omitempty"`
		V    int64    `bson:"v,omitempty"`
	}
)

var (
	origins = model.NewCollection[origin, string]("origins")
	holders = model.NewCollectionWith[holder, string]("holders", model.CollectionOptions{StoreField: "kept"})

	ofDocument = declareCopies(copies.Spec{KeyPath: "src", Version: "v", VersionTo: "v"}, "")
	bareFields = declareCopies(copies.Spec{KeyPath: "src"}, "")
	inItems    = declareCopies(copies.Spec{KeyPath: "items.id", Version: "v", VersionTo: "items.v"}, "items.")
	bareItems  = declareCopies(copies.Spec{KeyPath: "items.id"}, "items.")
	inGroups   = declareCopies(copies.Spec{
		KeyPath: "groups.items.id", Version: "v", VersionTo: "groups.items.v",
	}, "groups.items.")
	bareGroups = declareCopies(copies.Spec{KeyPath: "groups.items.id"}, "groups.items.")
	ofListed   = declareCopies(copies.Spec{Listed: "docs", Version: "v", VersionTo: "v"}, "")
)

func declareCopies(spec copies.Spec, base string) *copies.Copy[origin, string, string] {
	for _, path := range []string{"name", "tags", "info.city"} {
		spec.Fields = append(spec.Fields, copies.Field{From: path, To: base + path})
	}
	return copies.New(origins, holders, spec)
}

// A copyForm is a form of copies, and where they are.
type copyForm struct {
	name      string
	c         *copies.Copy[origin, string, string]
	versioned bool
	depth     int
	copies    func(h *holder, sources map[string]origin) []copied
}

// copied points at a copy, in whatever holds it.
type copied struct {
	src  string
	name *string
	tags *[]string
	city *string
	v    *int64
}

var copyForms = []copyForm{
	{"document", ofDocument, true, 0, ofHolder},
	{"document, bare", bareFields, false, 0, ofHolder},
	{"items", inItems, true, 1, ofItems},
	{"items, bare", bareItems, false, 1, ofItems},
	{"groups", inGroups, true, 2, ofGroups},
	{"groups, bare", bareGroups, false, 2, ofGroups},
	{"listed", ofListed, true, 0, func(h *holder, sources map[string]origin) (out []copied) {
		for id, s := range sources {
			if slices.Contains(s.Docs, h.ID) {
				out = append(out, copied{id, &h.Name, &h.Tags, &h.Info.City, &h.V})
			}
		}
		return out
	}},
}

func ofHolder(h *holder, _ map[string]origin) []copied {
	if h.Src == "" {
		return nil
	}
	return []copied{{h.Src, &h.Name, &h.Tags, &h.Info.City, &h.V}}
}

func ofList(list []held) (out []copied) {
	for i := range list {
		x := &list[i]
		out = append(out, copied{x.ID, &x.Name, &x.Tags, &x.Info.City, &x.V})
	}
	return out
}

func ofItems(h *holder, _ map[string]origin) []copied { return ofList(h.Items) }

func ofGroups(h *holder, _ map[string]origin) (out []copied) {
	for i := range h.Groups {
		out = append(out, ofList(h.Groups[i].Items)...)
	}
	return out
}

// faultOf says what is wrong with a copy, by the documents as they are in memory.
func (f copyForm) faultOf(c copied, sources map[string]origin) string {
	s, ok := sources[c.src]
	switch {
	case !ok:
		return "gone"
	case f.versioned && *c.v > s.V:
		return "ahead"
	case *c.name != s.Name || *c.city != s.Info.City || !slices.Equal(*c.tags, s.Tags) ||
		(*c.tags == nil) != (s.Tags == nil):
		return "stale"
	}
	return ""
}

// world is what the database holds.
func world(t testing.TB, db *mongo.Database) (map[string]origin, []holder) {
	t.Helper()
	list, err := origins.Find(nil).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]origin{}
	for _, s := range list {
		sources[s.ID] = s
	}
	hs, err := holders.Find(nil).Sorted(bson.D{testkit.E("_id", 1)}).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return sources, hs
}

// wantDrift compares what the check finds with what the documents in memory say.
func (f copyForm) wantDrift(t testing.TB, db *mongo.Database) (found []model.Finding) {
	t.Helper()
	found, err := testkit.FoundBy(t.Context(), db, f.c.Checks())
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, x := range found {
		fault := "stale"
		d := testkit.Detail[struct {
			Src   string
			Ahead bool
		}](t, x)
		switch {
		case isGone(x):
			fault = "gone"
		case d.Ahead:
			fault = "ahead"
		}
		got = append(got, fmt.Sprint(fault, " ", x.ID.StringValue(), " ", d.Src))
	}
	sources, hs := world(t, db)
	for i := range hs {
		for _, c := range f.copies(&hs[i], sources) {
			if fault := f.faultOf(c, sources); fault != "" {
				want = append(want, fmt.Sprint(fault, " ", hs[i].ID, " ", c.src))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s: found %q, want %q", f.name, got, want)
	}
	return found
}

// isGone says that a finding is of a copy whose source is missing.
func isGone(f model.Finding) bool { return strings.Contains(f.Check, "copies of missing") }

// fill stores five sources and eight documents, some with copies of some.
func (f copyForm) fill(t testing.TB, db *mongo.Database, r *rand.Rand) {
	t.Helper()
	testkit.Seed(t, db, testkit.Docs{"origins": nil, "holders": nil})
	var sources []origin
	for i := range 5 {
		sources = append(sources, origin{ID: fmt.Sprintf("s%d", i), Name: fmt.Sprintf("n%d", i), Note: "own"})
	}
	var hs []holder
	elem := func(s origin) held { return held{ID: s.ID, Note: "kept", Name: s.Name, Tags: s.Tags, V: s.V} }
	for i := range 8 {
		h := holder{ID: fmt.Sprintf("h%d", i)}
		s := &sources[r.IntN(len(sources))]
		switch {
		case f.c == ofListed:
			s.Docs, h.Name = append(s.Docs, h.ID), s.Name
		case f.depth == 0 && i%4 != 0:
			h.Src, h.Name = s.ID, s.Name
		case f.depth == 1:
			for _, j := range r.Perm(len(sources))[:r.IntN(4)] {
				h.Items = append(h.Items, elem(sources[j]))
			}
		case f.depth == 2:
			h.Groups = []group{{Title: "empty"}, {Title: "one", Items: []held{elem(*s)}}}
			for _, j := range r.Perm(len(sources))[:r.IntN(4)] {
				h.Groups[0].Items = append(h.Groups[0].Items, elem(sources[j]))
			}
		}
		hs = append(hs, h)
	}
	if err := testkit.Exec(t.Context(), db, origins.InsertMany(sources), holders.InsertMany(hs)); err != nil {
		t.Fatal(err)
	}
}

// Whatever is changed through the copy, in whatever order it arrives, the copies are those of their sources.
func TestCopyFollows(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range copyForms {
			t.Run(f.name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, uint64(f.depth)))
				f.fill(t, db, r)
				var late []model.Plan // propagations that arrive when others have overtaken them
				for n := range 40 {
					f.step(t, db, r, n, &late)
				}
				for _, p := range late {
					if err := testkit.Exec(t.Context(), db, p); err != nil {
						t.Fatal(err)
					}
				}
				if found := f.wantDrift(t, db); len(found) > 0 {
					t.Errorf("drift %v", found)
				}
				f.wantUntouched(t, db)
			})
		}
	})
}

func (f copyForm) step(t *testing.T, db *mongo.Database, r *rand.Rand, n int, late *[]model.Plan) {
	ctx := t.Context()
	s, err := origins.ByID(fmt.Sprintf("s%d", r.IntN(5))).One(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	h := fmt.Sprintf("h%d", r.IntN(8))
	if r.IntN(3) == 0 {
		f.relate(t, db, r, h, s)
		return
	}
	fields := bson.D{}
	if r.IntN(2) == 0 {
		fields = append(fields, testkit.E("name", fmt.Sprintf("n%d", n)))
	}
	if r.IntN(3) == 0 {
		fields = append(fields, testkit.E("tags", []string{fmt.Sprint(n), "x"}))
	}
	if r.IntN(3) == 0 {
		fields = append(fields, testkit.E("info", info{City: fmt.Sprintf("c%d", n)}))
	}
	fields = append(fields, testkit.E("note", fmt.Sprint(n)))
	if !f.versioned || r.IntN(2) == 0 {
		testkit.MustChange(t, db, f.sources().Set(s.ID, fields))
		return
	}
	testkit.MustExec(t, db,
		model.NewPlan(origins.Update(s.ID, bson.D{
			testkit.E("$set", fields), testkit.E("$inc", bson.D{testkit.E("v", 1)}),
		})))
	if s, err = origins.ByID(s.ID).One(ctx, db); err != nil {
		t.Fatal(err)
	}
	*late = append(*late, f.c.Propagate(&s)) // a process dies between the two, and the rest arrives late
}

// sources returns a store of the sources.
func (f copyForm) sources() *model.Store[origin, string] {
	return model.NewStore(model.New("copies", f.c), origins)
}

// holders returns a store of the documents with copies.
func (f copyForm) holders() *model.Store[holder, string] {
	return model.NewStore(model.New("copies", f.c), holders)
}

// relate gives a document a copy of a source, takes one away, or makes another source's of it.
func (f copyForm) relate(t *testing.T, db *mongo.Database, r *rand.Rand, id string, s origin) {
	if f.c == ofListed {
		i := slices.Index(s.Docs, id)
		if i >= 0 {
			s.Docs = slices.Delete(s.Docs, i, i+1)
		} else if n, err := origins.Find(bson.D{testkit.E("docs", id)}).Count(t.Context(), db); err != nil || n > 0 {
			return // another source lists it
		} else {
			s.Docs = append(s.Docs, id)
		}
		testkit.MustChange(t, db, f.sources().Set(s.ID, bson.D{testkit.E("docs", s.Docs)}))
		return
	}
	how, at := r.IntN(4), r.IntN(8)
	change := func(list []held) []held {
		switch {
		case how == 0 && len(list) > 0:
			list = slices.Delete(list, at%len(list), at%len(list)+1)
		case how == 1 && len(list) > 0:
			list[at%len(list)].ID = s.ID
		case how == 2:
			list = slices.Insert(list, at%(len(list)+1), held{ID: s.ID, Note: "kept"})
		default:
			slices.Reverse(list)
		}
		return list
	}
	edit := func(h *holder) error {
		switch {
		case f.depth == 0 && how == 0:
			h.Src = ""
		case f.depth == 0:
			h.Src = s.ID
		case f.depth == 1:
			h.Items = change(h.Items)
		default:
			h.Groups[0].Items = change(h.Groups[0].Items)
		}
		return nil
	}
	if r.IntN(3) > 0 {
		testkit.MustChange(t, db, f.holders().Edit(id, edit))
		return
	}
	h, err := holders.ByID(id).One(t.Context(), db)
	if err := errors.Join(err, edit(&h)); err != nil {
		t.Fatal(err)
	}
	testkit.MustChange(t, db, f.holders().Replace(h))
}

// What is changed past the copy is found completely, and repaired exactly: the copied fields of those copies and
// nothing else.
func TestCopyDrift(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, f := range copyForms {
			t.Run(f.name, func(t *testing.T) {
				for round := range 6 {
					r := rand.New(rand.NewPCG(uint64(round), 11))
					f.fill(t, db, r)
					f.inject(t, db, r)
					f.wantDrift(t, db)
					if err := testkit.MendedByJobs(f.c.Checks()...)(t.Context(), db); err != nil {
						t.Fatal(err)
					}
					for _, d := range f.wantDrift(t, db) {
						if !isGone(d) {
							t.Errorf("after the repair: %v", d)
						}
					}
					f.wantUntouched(t, db)
				}
			})
		}
	})
}

// inject changes copies at random, and deletes a source.
func (f copyForm) inject(t *testing.T, db *mongo.Database, r *rand.Rand) {
	sources, hs := world(t, db)
	var p model.Plan
	for i := range hs {
		for _, c := range f.copies(&hs[i], sources) {
			switch r.IntN(6) {
			case 0:
				*c.name = "wrong"
			case 1:
				*c.tags = []string{"wrong"}
			case 2:
				*c.name, *c.city = "", "wrong"
			case 3:
				*c.v = 99 // ahead, if there are versions
			}
		}
		p.Steps = append(p.Steps, holders.Replace(hs[i]))
	}
	if f.c != ofListed {
		p.Steps = append(p.Steps, origins.Delete(fmt.Sprintf("s%d", r.IntN(5))))
	}
	if err := testkit.Exec(t.Context(), db, p); err != nil {
		t.Fatal(err)
	}
}

// wantUntouched checks what is not the copy's: the notes of elements, the groups.
func (f copyForm) wantUntouched(t *testing.T, db *mongo.Database) {
	_, hs := world(t, db)
	for _, h := range hs {
		list := slices.Clone(h.Items)
		if f.depth == 2 {
			if len(h.Groups) != 2 || h.Groups[0].Title != "empty" || len(h.Groups[1].Items) != 1 {
				t.Errorf("groups %v", h.Groups)
			}
			for _, g := range h.Groups {
				list = append(list, g.Items...)
			}
		}
		for _, x := range list {
			if x.Note != "kept" {
				t.Errorf("%s: element %v", h.ID, x)
			}
		}
	}
}
