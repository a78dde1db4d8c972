package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The documents that migrations move: publishers list books or books name their publisher, posts embed comments or
// refer to them, people embed one address or refer to it.
type (
	publisher struct {
		ID    string `bson:"_id"`
		Books []int  `bson:"books,omitempty"`
	}
	ownedBook struct {
		ID    int    `bson:"_id"`
		Pub   string `bson:"pub-id,omitempty"`
		Place *int   `bson:"place,omitempty"`
	}
	post struct {
		ID       string        `bson:"_id"`
		Comments []postComment `bson:"comments,omitempty"`
		Refs     []string      `bson:"commentIds,omitempty"`
	}
	postComment struct {
		ID   string `bson:"id"`
		Text string `bson:"text"`
	}
	comment struct {
		ID    string `bson:"_id"`
		Text  string `bson:"text"`
		Post  string `bson:"post"`
		Place int    `bson:"place"`
	}
	person struct {
		ID      string   `bson:"_id"`
		Home    *address `bson:"home,omitempty"`
		Address string   `bson:"addressId,omitempty"`
	}
	address struct {
		Street string `bson:"street"`
	}
	addressDoc struct {
		ID     string `bson:"_id"`
		Street string `bson:"street"`
		Person string `bson:"person,omitempty"`
	}
)

var (
	publishers = model.NewCollection[publisher, string]("publishers")
	ownedBooks = model.NewCollection[ownedBook, int]("books")
	posts      = model.NewCollection[post, string]("posts")
	comments   = model.NewCollection[comment, string]("comments")
	people     = model.NewCollection[person, string]("people")
	addresses  = model.NewCollection[addressDoc, string]("addresses")

	turned  = migrate.NewInvert(publishers, "books", ownedBooks, "pub-id", migrate.InvertSpec{})
	inPlace = migrate.NewInvert(publishers, "books", ownedBooks, "pub-id", migrate.InvertSpec{
		Order: "place", FirstWins: true, State: "moves",
	})
	back      = migrate.NewInvert(publishers, "books", ownedBooks, "pub-id", migrate.InvertSpec{ToLists: true})
	backPlace = migrate.NewInvert(publishers, "books", ownedBooks, "pub-id", migrate.InvertSpec{
		ToLists: true, Order: "place", FirstWins: true, State: "moves",
	})
	takenOut = migrate.NewExtract(posts, "comments", comments,
		migrate.ExtractSpec[string, string]{Key: "id", Parent: "post", Order: "place"})
	listedOut = migrate.NewExtract(posts, "comments", comments, migrate.ExtractSpec[string, string]{
		Key: "id", Refs: "commentIds", Mark: "copied", State: "moves",
	})
	movedOut = migrate.NewExtract(people, "home", addresses,
		migrate.ExtractSpec[string, string]{ID: sameID, Refs: "addressId"})
	partedOut = migrate.NewExtract(people, "home", addresses,
		migrate.ExtractSpec[string, string]{ID: sameID, Parent: "person"})

	takenIn  = migrate.NewAbsorb(posts, "comments", comments, migrate.AbsorbSpec{Key: "id", Parent: "post", Order: "place"})
	listedIn = migrate.NewAbsorb(posts, "comments", comments, migrate.AbsorbSpec{
		Key: "id", Refs: "commentIds", State: "moves",
	})
	movedIn = migrate.NewAbsorb(people, "home", addresses, migrate.AbsorbSpec{Parent: "person"})
)

// sameID gives a person's address the person's _id.
func sameID(owner string, _ int, _ bson.Raw) (string, error) { return owner, nil }

func init() {
	register(turnedRound()...)
	register(extracted()...)
	register(absorbed()...)
}

func turnedRound() []Case {
	return []Case{
		{Method: "migrate.Migration.Indexes", Reason: "both sides",
			Make: func(string) any { return turned.Indexes() }},
		{Method: "migrate.Migration.Indexes", Reason: "both sides, the reference with its order",
			Make: func(string) any { return inPlace.Indexes() }},
		{Method: "migrate.Migration.Verify", Reason: "lists that become references",
			Make: func(string) any { return turned.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "lists that become references in order, the first parent of several wins",
			Make: func(string) any { return inPlace.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "references that become lists",
			Make: func(string) any { return back.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "references that become lists in order",
			Make: func(string) any { return backPlace.Verify() }},
		{
			Method: "migrate.Migration.Copy", Reason: "lists that become references, in order",
			Make: func(string) any { return inPlace.Copy() },
		},
		{
			Method: "migrate.Migration.Copy", Reason: "references that become lists",
			Make: func(string) any { return back.Copy() },
		},
		{
			Method: "migrate.Migration.Drop", Reason: "lists that became references",
			Make: func(string) any { return turned.Drop() },
		},
		{Method: "migrate.Migration.Restart", Reason: "of lists that become references",
			Make: func(string) any { return turned.Restart() }},
		{Method: "migrate.Migration.Restart", Reason: "of references that become lists, in a collection of one's own",
			Make: func(string) any { return backPlace.Restart() }},
	}
}

func extracted() []Case {
	return []Case{
		{Method: "migrate.Migration.Verify", Reason: "extract: the documents hold their owner and their place",
			Make: func(string) any { return takenOut.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "extract: the owners list the documents",
			Make: func(string) any { return listedOut.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "extract: a subdocument without an id, to which its owner refers",
			Make: func(string) any { return movedOut.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "extract: a subdocument without an id, whose document holds the owner",
			Make: func(string) any { return partedOut.Verify() }},
		{
			Method: "migrate.Migration.Copy",
			Reason: "extract: owners, and then the documents",
			Make:   func(string) any { return takenOut.Copy() },
		},
		{
			Method: "migrate.Migration.Drop", Reason: "extract: elements, and then marks",
			Make: func(string) any { return listedOut.Drop() },
		},
		{Method: "migrate.Migration.Restart", Reason: "extract: in the usual collection",
			Make: func(string) any { return takenOut.Restart() }},
		{Method: "migrate.Migration.Restart", Reason: "extract: in a collection of one's own",
			Make: func(string) any { return listedOut.Restart() }},
		{Method: "migrate.Migration.Indexes", Reason: "extract: the documents of an owner, in order",
			Make: func(string) any { return takenOut.Indexes() }},
		{Method: "migrate.Migration.Indexes", Reason: "extract: the owner of a document",
			Make: func(string) any { return listedOut.Indexes() }},
	}
}

func absorbed() []Case {
	return []Case{
		{Method: "migrate.Migration.Verify", Reason: "absorb: the documents hold their owner and their place",
			Make: func(string) any { return takenIn.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "absorb: the owners list the documents",
			Make: func(string) any { return listedIn.Verify() }},
		{Method: "migrate.Migration.Verify", Reason: "absorb: a subdocument, whose document holds the owner",
			Make: func(string) any { return movedIn.Verify() }},
		{
			Method: "migrate.Migration.Copy", Reason: "absorb: owners that list documents",
			Make: func(string) any { return listedIn.Copy() },
		},
		{
			Method: "migrate.Migration.Drop", Reason: "absorb: references, and then documents",
			Make: func(string) any { return listedIn.Drop() },
		},
		{Method: "migrate.Migration.Restart", Reason: "absorb: in the usual collection",
			Make: func(string) any { return takenIn.Restart() }},
		{Method: "migrate.Migration.Restart", Reason: "absorb: in a collection of one's own",
			Make: func(string) any { return listedIn.Restart() }},
		{Method: "migrate.Migration.Indexes", Reason: "absorb: the documents of an owner, in order",
			Make: func(string) any { return takenIn.Indexes() }},
		{Method: "migrate.Migration.Indexes", Reason: "absorb: the owners that refer to a document, and those that embed it",
			Make: func(string) any { return listedIn.Indexes() }},
	}
}
