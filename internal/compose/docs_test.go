package compose

import (
	"time"

	"github.com/docmodel/docmodel/denorm/history"
	"github.com/docmodel/docmodel/denorm/inbox"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// All techniques are declared over posts, the comments on them, and the users who write both. Each has fields of its
// own there, so that techniques that don't concern each other meet in a document, and those that do meet in a field.
type (
	user struct {
		ID   string `bson:"_id"`
		Name string `bson:"name"`

		Liked []string `bson:"liked,omitempty"` // twosided.ManyToMany
		Held  []string `bson:"held,omitempty"`  // twosided.TwoWay

		Homes []home `bson:"homes,omitempty"` // migrate.NewAbsorb
	}

	post struct {
		ID     string `bson:"_id"`
		Title  string `bson:"title"`
		TitleV int64  `bson:"titleV"` // copies.Copy
		Author string `bson:"author,omitempty"`
		Lang   string `bson:"lang,omitempty"` // schema.Versions

		Comments int64           `bson:"comments"` // counter.Counter
		Votes    int64           `bson:"votes"`
		Ops      []bson.ObjectID `bson:"ops,omitempty"`

		Version int64           `bson:"version"` // embed.Versioned
		Written []bson.ObjectID `bson:"written,omitempty"`

		Edition int64            `bson:"edition"` // history.History
		Revised *history.Revised `bson:"revised,omitempty"`

		Fresh []line `bson:"fresh,omitempty"` // subsetpages.SubsetPages

		Box  outbox.Outgoing[line] `bson:"box,omitempty"`  // outbox.Outbox
		Done []inbox.Receipt       `bson:"done,omitempty"` // inbox.Inbox

		Parts []part `bson:"parts,omitempty"` // embed.Embedded
		Extra *part  `bson:"extra,omitempty"` // embed.One

		Views  int64    `bson:"views"`                // approximate.Approximate
		Specs  []spec   `bson:"specs,omitempty"`      // attributes.Attributes
		Last   []line   `bson:"last,omitempty"`       // bounded.Bounded
		Media  medium   `bson:"media,omitempty"`      // embed.Kinds
		Mails  []line   `bson:"mails,omitempty"`      // outlier.Outlier
		More   bool     `bson:"more,omitempty"`       //
		Tags   []string `bson:"tags,omitempty"`       // indextable.IndexTable, inverted.Inverted
		Latest []latest `bson:"latest,omitempty"`     // subset.Subset
		By     string   `bson:"authorName,omitempty"` // copies.Copy of users

		Parent    *string  `bson:"parent"` // paths.Tree, in each representation
		Order     string   `bson:"order"`
		Change    int64    `bson:"change"`
		Ancestors []string `bson:"ancestors,omitempty"`
		Children  []string `bson:"children,omitempty"`
		Path      string   `bson:"path,omitempty"`
		Left      int64    `bson:"left,omitempty"`
		Right     int64    `bson:"right,omitempty"`
		Depth     int32    `bson:"depth,omitempty"`
		Outline   []node   `bson:"outline,omitempty"` // paths.DocumentTree
		Follows   []string `bson:"follows,omitempty"` // paths.Graph

		At    *geofield.Point `bson:"at,omitempty"` // geofield.Field
		Geo   int64           `bson:"geo,omitempty"`
		Until *time.Time      `bson:"until,omitempty"` // schema.Expiry

		Words []string `bson:"words,omitempty"` // proximity.Proximity
		Text  string   `bson:"text,omitempty"`  //

		Listed  []string `bson:"listed,omitempty"`  // childrefs.ChildRefs
		LikedBy []string `bson:"likedBy,omitempty"` // twosided.ManyToMany
		Turned  []string `bson:"turned,omitempty"`  // migrate.NewInvert
		Drafts  []line   `bson:"drafts,omitempty"`  // migrate.NewExtract
	}

	part struct {
		ID   string `bson:"id"`
		Note string `bson:"note"`
		Subs []line `bson:"subs,omitempty"` // embed.Nested
	}

	// A medium is a song or a film.
	medium interface{ medium() }
	song   struct {
		Length int32 `bson:"length"`
	}
	film struct {
		Minutes int32 `bson:"minutes"`
	}

	line struct {
		ID string `bson:"id"`
		N  int64  `bson:"n"`
	}

	node struct {
		ID     string `bson:"id"`
		Parent string `bson:"parent"`
		Text   string `bson:"text"`
	}

	spec struct {
		K string `bson:"k"`
		V any    `bson:"v"`
	}

	latest struct {
		ID   string    `bson:"_id"`
		At   time.Time `bson:"at"`
		Slug string    `bson:"slug"`
	}

	comment struct {
		ID     string    `bson:"_id"`
		Post   *string   `bson:"post,omitempty"`
		Slug   string    `bson:"slug"` // unique within the post: the index beside
		Author *string   `bson:"author,omitempty"`
		At     time.Time `bson:"at"`

		Votes int64 `bson:"votes"` // counter.Counter

		PostTitle  string `bson:"postTitle"` // copies.Copy
		PostTitleV int64  `bson:"postTitleV"`

		Holder   string `bson:"holder,omitempty"`   // twosided.TwoWay
		TurnedTo string `bson:"turnedTo,omitempty"` // migrate.NewInvert

		Day  string       `bson:"day,omitempty"`  // keys.Spread
		Mark *rollup.Mark `bson:"mark,omitempty"` // rollup.Rollup
	}

	draft struct {
		ID   string `bson:"_id"`
		N    int64  `bson:"n"`
		Post string `bson:"post"`
	}

	// An address has a composite key.
	address struct {
		ID     string `bson:"_id"`
		Street string `bson:"street"`
		User   string `bson:"user"`
	}

	home struct {
		ID     string `bson:"_id"`
		Street string `bson:"street"`
	}
)

func (song) medium() {}
func (film) medium() {}

var (
	media = embed.NewUnion[medium]("type", embed.Case[song]("song"), embed.Case[film]("film"))

	// Stores have another field in each collection, so that no command takes one for another.
	users     = model.NewCollectionWith[user, string]("users", model.CollectionOptions{StoreField: "_u"})
	posts     = model.NewCollectionWith[post, string]("posts", media.Options())
	addresses = model.NewCollection[address, string]("addresses")
	comments  = model.NewCollectionWith[comment, string]("comments", model.CollectionOptions{StoreField: "_c"})

	// beside is a unique index of the application's own.
	beside = model.Index{
		Collection: "comments", Name: "slugs", Unique: true, Keys: bson.D{{Key: "post", Value: 1}, {Key: "slug", Value: 1}},
	}
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// seeded are the documents before techniques derive anything from them: the comments c1 and c2 are on the post p1, c3
// on p2, and c3 has the slug of c1. In a tree of posts p3 is below p2. What views of the posts store is here too, for
// all to meet.
func seeded() map[string][]any {
	on := func(id, post, author, slug string, n int) comment {
		return comment{
			ID: id, Post: &post, Author: &author, Slug: slug, At: noon.Add(time.Duration(n) * time.Minute), Votes: int64(n),
		}
	}
	p := func(id, title, author, order string, parent *string, more ...bson.E) bson.D {
		return with(post{
			ID: id, Title: title, TitleV: 1, Author: author, Version: 1, Parent: parent, Order: order,
			Parts: []part{
				{ID: "a", Note: "first", Subs: []line{{ID: "s1", N: 1}, {ID: "s2", N: 2}}}, {ID: "b", Note: "second"},
			},
		}, more...)
	}
	return map[string][]any{
		"users": {
			user{ID: "u1", Name: "Ann", Liked: []string{"p1"}, Held: []string{"c1"}},
			user{ID: "u2", Name: "Ben"},
		},
		"posts": {
			p("p1", "One", "u1", "V", nil, e("tags", bson.A{"red"}), e("likedBy", bson.A{"u1"}), e("listed", bson.A{"c1", "c2"}),
				e("turned", bson.A{"c1"}),
				e("mails", bson.A{bson.D{e("id", "m1"), e("n", int64(1))}, bson.D{e("id", "m2"), e("n", int64(2))}}),
				e("drafts", bson.A{bson.D{e("id", "d1"), e("n", int64(1))}}), e("follows", bson.A{"p2"}),
				e("at", geofield.Point{Lat: 48, Lng: 2}),
				e("words", bson.A{"one", "two"}),
				e("outline", bson.A{
					bson.D{e("id", "n1"), e("parent", ""), e("text", "head")},
					bson.D{e("id", "n2"), e("parent", "n1"), e("text", "first")},
				}),
				e("media", bson.D{e("type", "song"), e("length", int32(3))}),
				e("specs", bson.A{bson.D{e("k", "color"), e("v", "red")}, bson.D{e("k", "size"), e("v", int64(3))}}),
				e("last", bson.A{bson.D{e("id", "l1"), e("n", int64(1))}, bson.D{e("id", "l2"), e("n", int64(2))}})),
			p("p2", "Two", "u2", "W", nil, e("tags", bson.A{"red", "blue"}), e("until", noon.Add(-time.Hour)),
				e("media", bson.D{e("type", "film"), e("minutes", int32(90))}), e("extra", bson.D{e("id", "x"), e("note", "old")})),
			p("p3", "Three", "u1", "V", ptr("p2")),
		},
		"comments": {
			with(on("c1", "p1", "u1", "x", 1), e("holder", "u1")),
			on("c2", "p1", "u2", "y", 2), on("c3", "p2", "u1", "x", 3),
		},
		"addresses": {bson.D{e("_id", "u1 :Main"), e("street", "Main"), e("user", "u1")}},
	}
}

func init() {
	// Under a tenant, all _ids carry the tenant, as if a keys.Sequence made them. So each pair of techniques is tested
	// with such _ids.
	for _, docs := range []*core.Docs{users.Docs(), posts.Docs(), addresses.Docs(), comments.Docs()} {
		docs.ShareKeyed()
	}
}

// owned is a document of a tenant, with the tenant in the _id.
func owned(doc any) bson.D {
	d := with(doc, scope.Tenant...)
	for i := range d {
		if d[i].Key == "_id" {
			d[i].Value = core.NewKeyID(d[i].Value, scope.Tenant)
		}
	}
	return d
}

func with(doc any, more ...bson.E) bson.D {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		panic(err)
	}
	return append(d, more...)
}
