package versions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// What the tests of versions are about: people, whose name was one text, and whose phone was one number.
type (
	personV1 struct {
		ID    string     `bson:"_id"`
		Name  string     `bson:"name"`
		Phone string     `bson:"phone,omitempty"`
		Home  *addressV1 `bson:"home,omitempty"`
		N     int        `bson:"n"`
		Lines []lineV1   `bson:"lines,omitempty"`
	}
	addressV1 struct {
		Street string `bson:"street"`
		City   string `bson:"city,omitempty"`
	}
	lineV1 struct {
		K string `bson:"k"`
	}
	personV2 struct {
		ID    string     `bson:"_id"`
		First string     `bson:"first"`
		Last  string     `bson:"last,omitempty"`
		Phone string     `bson:"phone,omitempty"`
		Home  *addressV1 `bson:"home,omitempty"`
		N     int        `bson:"n"`
		Lines []lineV1   `bson:"lines,omitempty"`
	}
	personV3 struct {
		ID     string            `bson:"_id"`
		First  string            `bson:"first"`
		Last   string            `bson:"last,omitempty"`
		Phones []phoneV3         `bson:"phones,omitempty"`
		Home   *addressV3        `bson:"home,omitempty"`
		N      int               `bson:"n"`
		Lines  []lineV3          `bson:"lines,omitempty"`
		Tags   map[string]string `bson:"tags,omitempty"`
	}
	phoneV3 struct {
		Kind   string `bson:"kind"`
		Number string `bson:"number"`
	}
	addressV3 struct {
		Lane string `bson:"lane"`
		City string `bson:"city,omitempty"`
	}
	lineV3 struct {
		K string `bson:"k"`
		L int    `bson:"l"`
	}
)

var errNameless = errors.New("a person without a name")

func namesOf(p personV1) (personV2, error) {
	if p.Name == "" {
		return personV2{}, errNameless
	}
	first, last, _ := strings.Cut(p.Name, " ")
	return personV2{p.ID, first, last, p.Phone, p.Home, p.N, p.Lines}, nil
}

func phonesOf(p personV2) (personV3, error) {
	out := personV3{ID: p.ID, First: p.First, Last: p.Last, N: p.N}
	if p.Phone != "" {
		out.Phones = []phoneV3{{"home", p.Phone}}
		out.Tags = map[string]string{"c": "1", "a": "2", "b": "3", "d": "4"}
	}
	if p.Home != nil {
		out.Home = &addressV3{p.Home.Street, p.Home.City}
	}
	for _, l := range p.Lines {
		if l.K != "drop" {
			out.Lines = append(out.Lines, lineV3{l.K, len(l.K)})
		}
	}
	return out, nil
}

var (
	people   = newPeople()
	versions = schema.NewVersions(people, schema.VersionsSpec{Field: "v"}, schema.Upcast(namesOf),
		schema.Upcast(phonesOf))

	peopleStore = model.NewStore(model.New("people", versions), people)
)

func newPeople() *model.Collection[personV3, string] {
	return model.NewCollection[personV3, string]("people")
}

// asD is a value as it is stored.
func asD(t testing.TB, v any) bson.D {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// raw writes a document in extended JSON.
func raw(t testing.TB, s string) bson.Raw {
	t.Helper()
	var d bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return d
}

func text(v any) string {
	b, err := bson.MarshalExtJSON(v, false, false)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func store(t testing.TB, db *mongo.Database, docs ...string) {
	t.Helper()
	c := db.Collection("people")
	if _, err := c.DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range docs {
		if _, err := c.InsertOne(t.Context(), raw(t, s)); err != nil {
			t.Fatal(err)
		}
	}
}

func storedDocs(t testing.TB, db *mongo.Database) (out []string) {
	t.Helper()
	docs, err := (&model.Find[bson.Raw]{
		Query: people.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).Query,
	}).All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		out = append(out, text(d))
	}
	return out
}

// Documents of every version are read as the newest; nothing is written.
func TestVersionsRead(t *testing.T) {
	tenancy.Differs(t, "the fields of the scope are fields of the documents that it compares or lists")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		all := []string{
			`{"_id":"a","name":"Ann Lee","phone":"1","n":1}`,
			`{"_id":"b","v":1,"name":"Bob","n":2}`,
			`{"_id":"c","v":null,"name":"Cy Fox","n":3}`,
			`{"_id":"d","v":2,"first":"Di","last":"Roe","phone":"4","n":4,"more":1}`,
			`{"_id":"e","v":{"$numberLong":"3"},"first":"Ed","phones":[{"kind":"work","number":"5"}],"n":5}`,
			`{"_id":"f","v":3.0,"first":"Flo","n":6}`,
		}
		store(t, db, all...)
		got, err := people.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).All(ctx, db)
		want :=
			"[{a Ann Lee [{home 1}] <nil> 1 [] map[a:2 b:3 c:1 d:4]} {b Bob  [] <nil> 2 [] map[]} " +
				"{c Cy Fox [] <nil> 3 [] map[]} {d Di Roe [{home 4}] <nil> 4 [] map[a:2 b:3 c:1 d:4]} " +
				"{e Ed  [{work 5}] <nil> 5 [] map[]} {f Flo  [] <nil> 6 [] map[]}]"
		if s := fmt.Sprint(got); err != nil || s != want {
			t.Fatalf("got %s, %v\nwant %s", s, err, want)
		}
		i := 0
		for p, err := range people.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}).Each(ctx, db) {
			if err != nil || fmt.Sprint(p) != fmt.Sprint(got[i]) {
				t.Errorf("Each: %v, %v", p, err)
			}
			i++
		}
		if p, err := people.ByID("d").One(ctx, db); err != nil || p.Last != "Roe" {
			t.Errorf("One: %v, %v", p, err)
		}
		if _, err := people.ByID("z").One(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("none: %v", err)
		}
		type firstOnly struct {
			ID    string `bson:"_id"`
			First string `bson:"first"`
		}
		if p, err := model.Project[firstOnly](people.ByID("a")).One(ctx, db); err != nil || p.First != "" {
			t.Errorf("a projection reads what is stored: %v, %v", p, err)
		}
		part := people.ByID("a")
		part.Projection = bson.D{{Key: "first", Value: 1}}
		var bad *model.ValueError
		if _, err := part.One(ctx, db); !errors.As(err, &bad) {
			t.Errorf("a projection by hand: %v", err)
		}
		if after := storedDocs(t, db); len(after) != len(all) || after[0] != all[0] {
			t.Errorf("reading wrote: %v", after)
		}
	})
}

// The versions hold for a collection under another name, and for one whose filters aren't checked.
func TestVersionsOfNamed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		store(t, db, `{"_id":"a","name":"Ann Lee","n":1}`)
		if p, err := people.Unchecked().ByID("a").One(t.Context(), db); err != nil || p.First != "Ann" {
			t.Errorf("%+v, %v", p, err)
		}
		others := people.Named("others")
		if _, err := others.Insert(personV3{ID: "b", First: "Bob"}).Run(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if n, err := db.Collection("others").
			CountDocuments(t.Context(), bson.D{{Key: "v", Value: int32(3)}}); err != nil || n != 1 {
			t.Errorf("%d documents of the newest version, %v", n, err)
		}
	})
}

// What can't be read says which document it is, and why.
func TestVersionErrors(t *testing.T) {
	strict := schema.NewVersions(newPeople(), schema.VersionsSpec{Field: "v", First: 5, Missing: -1},
		schema.Upcast(phonesOf))
	for _, c := range []struct {
		reason, doc, message string
		is                   error
		strict               bool
	}{
		{
			reason: "newer", doc: `{"_id":1,"v":4}`,
			message: "docmodel: people: _id 1, version 4: " +
				"the version is newer than this program supports: the newest version is 3",
			is: schema.ErrNewer, strict: false,
		},
		{"older than the first", `{"_id":1,"v":0}`, "docmodel: people: _id 1, version 0: the first version is 1", nil,
			false},
		{"a text", `{"_id":1,"v":"1"}`, "docmodel: people: _id 1, version '1': the version isn't an integer", nil,
			false},
		{"a fraction", `{"_id":1,"v":1.5}`, "docmodel: people: _id 1, version 1.5: the version isn't an integer", nil,
			false},
		{
			reason: "endless", doc: `{"_id":1,"v":{"$numberDouble":"Infinity"}}`,
			message: "docmodel: people: _id 1, version Infinity: the version isn't an integer",
			is:      nil, strict: false,
		},
		{"none", `{"_id":1}`, "docmodel: people: _id 1, no version: the document has no version", nil, true},
		{
			reason: "one from before the first", doc: `{"_id":1,"v":1}`,
			message: "docmodel: people: _id 1, version 1: the first version is 5",
			is:      nil, strict: true,
		},
		{
			reason: "a step fails", doc: `{"_id":"x","name":"","n":1}`,
			message: "docmodel: people: _id 'x', no version: step to version 2: a person without a name",
			is:      errNameless, strict: false,
		},
		{"a field of another type", `{"_id":"x","v":1,"name":3}`, "", nil, false},
		{"of the newest", `{"_id":"x","v":3,"first":3}`, "", nil, false},
	} {
		v := versions
		if c.strict {
			v = strict
		}
		_, err := v.Decode(raw(t, c.doc))
		var failed *schema.VersionError
		if !errors.As(err, &failed) || failed.Collection != "people" || failed.ID.Type == 0 {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		if c.message != "" && err.Error() != c.message || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.reason, err)
		}
		if w := v.Upgrade(raw(t, c.doc)); !errors.As(w.Err, &failed) {
			t.Errorf("%s: Upgrade gives %v", c.reason, w)
		}
	}
}
