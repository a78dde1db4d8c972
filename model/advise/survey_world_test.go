package advise_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

// surveyParent and surveyChild are tied in three ways at once.
type surveyParent struct {
	ID       bson.ObjectID   `bson:"_id"`
	Name     string          `bson:"name"`
	Children []bson.ObjectID `bson:"children,omitempty"`
	Embedded []surveyItem    `bson:"embedded,omitempty"`
}

type surveyItem struct {
	ID   bson.ObjectID `bson:"_id"`
	Text string        `bson:"text"`
	At   time.Time     `bson:"at"`
}

type surveyChild struct {
	ID      bson.ObjectID   `bson:"_id"`
	Text    string          `bson:"text"`
	Parent  *bson.ObjectID  `bson:"parent,omitempty"`
	Parents []bson.ObjectID `bson:"parents,omitempty"`
}

var (
	surveyParents  = model.NewCollection[surveyParent, bson.ObjectID]("parents")
	surveyChildren = model.NewCollection[surveyChild, bson.ObjectID]("children")

	embeddedSurvey = advise.NewSurvey(surveyParents, surveyParents, advise.SurveySpec{Embedded: "embedded"})
	listSurvey     = advise.NewSurvey(surveyParents, surveyChildren, advise.SurveySpec{List: "children"})
	refSurvey      = advise.NewSurvey(surveyParents, surveyChildren, advise.SurveySpec{Ref: "parent"})
	refsSurvey     = advise.NewSurvey(surveyParents, surveyChildren, advise.SurveySpec{Ref: "parents"})
)

// surveyID is an ObjectID of a day.
func surveyID(days float64, n int) bson.ObjectID {
	id := bson.NewObjectIDFromTimestamp(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).
		Add(time.Duration(days * 24 * float64(time.Hour))))
	copy(id[4:], []byte{0, 0, 0, 0, 0, byte(n >> 16), byte(n >> 8), byte(n)})
	return id
}

// world is random data, and what is true of it.
type world struct {
	parents  []surveyParent
	children []surveyChild
}

func newWorld(rng *rand.Rand, parents, children int) world {
	var w world
	for i := range parents {
		p := surveyParent{ID: surveyID(rng.Float64()*10, i), Name: bytesOf(rng.Int64N(100))}
		for j := range rng.IntN(6) {
			p.Embedded = append(p.Embedded, surveyItem{
				ID: surveyID(rng.Float64()*300, 1000*i+j), Text: bytesOf(rng.Int64N(50)), At: time.Unix(0, 0),
			})
		}
		w.parents = append(w.parents, p)
	}
	for i := range children {
		c := surveyChild{ID: surveyID(rng.Float64()*365, i), Text: bytesOf(rng.Int64N(200))}
		if of := rng.IntN(parents + 2); of < parents {
			c.Parent = &w.parents[of].ID
		} else if of == parents {
			lost := surveyID(900, i)
			c.Parent = &lost
		}
		for range rng.IntN(4) {
			p := &w.parents[rng.IntN(parents)]
			if !slices.Contains(c.Parents, p.ID) {
				c.Parents = append(c.Parents, p.ID)
				p.Children = append(p.Children, c.ID)
			}
		}
		w.children = append(w.children, c)
	}
	w.parents[0].Children = append(w.parents[0].Children, surveyID(5, 999999))
	return w
}
