package checks

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The documents that migrations move: publishers list books or books name their publisher, posts embed comments or refer to
// them, people embed one address or refer to it.
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

	turned    = relate.NewInvert(publishers, "books", ownedBooks, "pub-id")
	inPlace   = relate.NewInvert(publishers, "books", ownedBooks, "pub-id", relate.InvertSpec{Order: "place", Shared: relate.FirstWins, State: "moves"})
	takenOut  = relate.NewExtract(posts, "comments", comments, relate.ExtractSpec[string, string]{Key: "id", Parent: "post", Order: "place"})
	listedOut = relate.NewExtract(posts, "comments", comments, relate.ExtractSpec[string, string]{Key: "id", Refs: "commentIds", Mark: "copied", State: "moves"})
	movedOut  = relate.NewExtract(people, "home", addresses, relate.ExtractSpec[string, string]{ID: sameID, Refs: "addressId"})
	partedOut = relate.NewExtract(people, "home", addresses, relate.ExtractSpec[string, string]{ID: sameID, Parent: "person"})

	takenIn  = relate.NewAbsorb(posts, "comments", comments, relate.AbsorbSpec{Key: "id", Parent: "post", Order: "place"})
	listedIn = relate.NewAbsorb(posts, "comments", comments, relate.AbsorbSpec{Key: "id", Refs: "commentIds", State: "moves"})
	movedIn  = relate.NewAbsorb(people, "home", addresses, relate.AbsorbSpec{Parent: "person"})
)

// sameID gives a person's address the person's _id.
func sameID(owner string, _ int, _ bson.Raw) (string, error) { return owner, nil }

func init() {
	register(inverted()...)
	register(extracted()...)
	register(absorbed()...)
}

func inverted() []Case {
	return []Case{
		{Method: "relate.Invert.Conflicts", Reason: "children that are listed more than once",
			Make: func(string) any { return turned.Conflicts() }},
		{Method: "relate.Invert.Indexes", Reason: "both sides",
			Make: func(string) any { return turned.Indexes() }},
		{Method: "relate.Invert.Indexes", Reason: "both sides, the reference with its order",
			Make: func(string) any { return inPlace.Indexes() }},
		{Method: "relate.Migration.Verify", Reason: "lists that become references",
			Make: func(string) any { return turned.ToRefs().Verify() }},
		{Method: "relate.Migration.Verify", Reason: "lists that become references in order, the first parent of several wins",
			Make: func(string) any { return inPlace.ToRefs().Verify() }},
		{Method: "relate.Migration.Verify", Reason: "references that become lists",
			Make: func(string) any { return turned.ToLists().Verify() }},
		{Method: "relate.Migration.Verify", Reason: "references that become lists in order",
			Make: func(string) any { return inPlace.ToLists().Verify() }},
		{Method: "relate.Migration.Restart", Reason: "of lists that become references",
			Make: func(string) any { return turned.ToRefs().Restart() }},
		{Method: "relate.Migration.Restart", Reason: "of references that become lists, in a collection of one's own",
			Make: func(string) any { return inPlace.ToLists().Restart() }},
	}
}

func extracted() []Case {
	return []Case{
		{Method: "relate.Extract.Verify", Reason: "the documents hold their owner and their place",
			Make: func(string) any { return takenOut.Verify() }},
		{Method: "relate.Extract.Verify", Reason: "the owners list the documents",
			Make: func(string) any { return listedOut.Verify() }},
		{Method: "relate.Extract.Verify", Reason: "a subdocument without an id, to which its owner refers",
			Make: func(string) any { return movedOut.Verify() }},
		{Method: "relate.Extract.Verify", Reason: "a subdocument without an id, whose document holds the owner",
			Make: func(string) any { return partedOut.Verify() }},
		{Method: "relate.Extract.Restart", Reason: "in the usual collection",
			Make: func(string) any { return takenOut.Restart() }},
		{Method: "relate.Extract.Restart", Reason: "in a collection of one's own",
			Make: func(string) any { return listedOut.Restart() }},
		{Method: "relate.Extract.Indexes", Reason: "the documents of an owner, in order",
			Make: func(string) any { return takenOut.Indexes() }},
		{Method: "relate.Extract.Indexes", Reason: "the owner of a document",
			Make: func(string) any { return listedOut.Indexes() }},
	}
}

func absorbed() []Case {
	return []Case{
		{Method: "relate.Absorb.Verify", Reason: "the documents hold their owner and their place",
			Make: func(string) any { return takenIn.Verify() }},
		{Method: "relate.Absorb.Verify", Reason: "the owners list the documents",
			Make: func(string) any { return listedIn.Verify() }},
		{Method: "relate.Absorb.Verify", Reason: "a subdocument, whose document holds the owner",
			Make: func(string) any { return movedIn.Verify() }},
		{Method: "relate.Absorb.Restart", Reason: "in the usual collection",
			Make: func(string) any { return takenIn.Restart() }},
		{Method: "relate.Absorb.Restart", Reason: "in a collection of one's own",
			Make: func(string) any { return listedIn.Restart() }},
		{Method: "relate.Absorb.Indexes", Reason: "the documents of an owner, in order",
			Make: func(string) any { return takenIn.Indexes() }},
		{Method: "relate.Absorb.Indexes", Reason: "the owners that refer to a document, and those that embed it",
			Make: func(string) any { return listedIn.Indexes() }},
	}
}
