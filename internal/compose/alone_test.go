package compose

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/denorm/numbered"
	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/denorm/uniquecount"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
)

type (
	numberedDoc struct {
		ID    string `bson:"_id"`
		Lines []line `bson:"lines,omitempty"`
	}
	letter struct {
		ID string `bson:"_id"`
	}
)

// alone are techniques that have their collections for themselves, so that no other technique
// meets them there. They are fixtures of the table of commands only. Their operations run one
// after another.
var alone = []fixture{
	{name: "bucket.Bucket", declare: func() (model.Technique, []operation) {
		pages := model.NewCollection[bucket.Doc[string, line], string]("pages")
		x := bucket.New(pages, bucket.Spec{Max: 2, ElementKey: "id"})
		return x, []operation{
			changed("append a first element", x.Append("a", line{ID: "b1", N: 1})),
			changed("append", x.Append("a", line{ID: "b2", N: 2})),
			changed("append to a full page", x.Append("a", line{ID: "b3", N: 3})),
			changed("append again", x.Append("a", line{ID: "b3", N: 3})),
		}
	}},
	{name: "eventlog.EventLog", declare: func() (model.Technique, []operation) {
		commits := model.NewCollection[eventlog.Commit[string, line], string]("commits")
		states := model.NewCollection[eventlog.State[string, line], string]("states")
		x := eventlog.New(commits, eventlog.Spec[string, line, line]{
			Fold: func(s, e line) (line, error) { return line{N: s.N + e.N}, nil }, Snapshots: states, Every: 2,
		})
		return x, []operation{
			changed("append", x.Append("a", 0, noon, []line{{N: 1}}, token(81))),
			changed("decide",
				x.Decide("a", noon, token(82), func(eventlog.State[string, line]) ([]line, error) {
					return []line{{N: 2}}, nil
				})),
			changed("decide after a snapshot",
				x.Decide("a", noon, token(83), func(eventlog.State[string, line]) ([]line, error) {
					return []line{{N: 3}}, nil
				})),
			changed("load", x.Load("a")),
		}
	}},
	{name: "numbered.Numbered", declare: func() (model.Technique, []operation) {
		lists := model.NewCollection[numberedDoc, string]("numbered")
		lists.Docs().ShareKeyed()
		x := numbered.New(lists, "lines", numbered.Spec{Max: 4, Fields: []string{"id", "n"}, Key: "id"})
		return x, []operation{
			written("insert", x.Insert(numberedDoc{ID: "a", Lines: []line{{ID: "n1", N: 1}}})),
			changed("append", x.Append("a", line{ID: "n2", N: 2})),
			written("set", x.Set("a", line{ID: "n3", N: 3})),
		}
	}},
	{name: "slots.Slots", declare: func() (model.Technique, []operation) {
		x := slots.New(model.NewCollection[slots.Doc[string], string]("seats"),
			slots.Spec{Slots: 2, Stock: true})
		return x, []operation{
			changed("add", x.Add("a", 10, token(91))),
			changed("take", x.Take("a", 1, token(92))),
			changed("take from another slot", x.Take("a", 4, token(94))),
			changed("resize", x.Resize("a", 4)),
		}
	}},
	{name: "uniquecount.UniqueCount", declare: func() (model.Technique, []operation) {
		x := uniquecount.New(model.NewCollection[uniquecount.Doc[string, string], string]("visits"),
			uniquecount.Spec{Period: denorm.Daily, For: 24 * time.Hour})
		return x, []operation{written("visit", x.Visit("a", "ann", noon))}
	}},
	{name: "keys.Sequence", declare: func() (model.Technique, []operation) {
		letters := model.NewCollection[letter, string]("letters")
		counters := model.NewCollection[keys.SequenceCounter[string], string]("counters")
		x := keys.NewSequence(letters, counters, keys.SequenceSpec{})
		return x, []operation{
			written("open", x.Open("a")),
			ran("take", func(ctx context.Context, db model.DB) error {
				_, err := x.Take("a", 1).Run(ctx, db)
				return err
			}),
			changed("insert", model.NewStore(model.New("letters", x), letters).Insert(letter{ID: "a_000000000000000001"})),
			changed("append", x.Append("a", letter{})),
			written("raise", x.Raise("a", 9)),
		}
	}},
}
