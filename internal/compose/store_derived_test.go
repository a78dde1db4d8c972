package compose

import (
	"context"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/attributes"
	"github.com/docmodel/docmodel/denorm/columns"
	"github.com/docmodel/docmodel/denorm/inverted"
	"github.com/docmodel/docmodel/denorm/outbox"
	"github.com/docmodel/docmodel/denorm/proximity"
	"github.com/docmodel/docmodel/denorm/rollup"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Models whose techniques write in the document itself, or keep entries of its values.
type (
	derivedDoc struct {
		ID      string                        `bson:"_id"`
		State   string                        `bson:"state"`
		User    int64                         `bson:"user"`
		Title   string                        `bson:"title"`
		Seen    int64                         `bson:"seen"`
		Size    int64                         `bson:"size"`
		At      time.Time                     `bson:"at"`
		Tags    []string                      `bson:"tags,omitempty"`
		TagText string                        `bson:"tagText,omitempty"`
		Place   geofield.Point                `bson:"place,omitempty"`
		Key     int64                         `bson:"key,omitempty"`
		Attrs   []derivedAttr                 `bson:"attrs,omitempty"`
		Day     string                        `bson:"day,omitempty"`
		Version int64                         `bson:"version,omitempty"`
		Box     outbox.Outgoing[derivedEvent] `bson:"box,omitempty"`
		Mark    *rollup.Mark                  `bson:"mark,omitempty"`
	}
	derivedAttr struct {
		K string `bson:"k"`
		V int64  `bson:"v"`
	}
	derivedEvent struct {
		Was string `bson:"was"`
		Now string `bson:"now"`
	}
	derivedBin = rollup.Doc[int64, int64]
)

var (
	derivedDocs    = model.NewCollection[derivedDoc, string]("derived")
	derivedBins    = model.NewCollectionWith[derivedBin, string]("bins", model.CollectionOptions{StoreField: "kept"})
	derivedKey     = keys.NewComposite(derivedDocs, keys.Text("state"), keys.Int("user"))
	derivedVersion = embed.NewVersioned(derivedDocs, embed.VersionedSpec{
		Uncounted: []string{
			"seen", "tags", "tagText", "attrs", "key", "place", "day", "box", "mark", "at", "state", "user", "size",
		},
	})
	derivedText    = proximity.New(derivedDocs, "tags", proximity.Spec{Text: "tagText"})
	derivedField   = geofield.NewField(derivedDocs, "place", "key", geofield.FieldSpec{})
	derivedAttrs   = attributes.New(derivedDocs, "attrs", attributes.Spec{})
	derivedSpread  = keys.NewSpread(derivedDocs, "day", keys.SpreadSpec{Parts: 5, By: "title"})
	derivedColumns = columns.New(derivedDocs, "flat", columns.Spec{})
	derivedOutbox  = outbox.New[derivedEvent](derivedDocs, "box", outbox.Spec{Max: 3}).
			PublishChanges(derivedEventOf)
	derivedRollup = rollup.New(derivedDocs, derivedBins, rollup.Spec{
		Time: "at", By: []string{"user"}, Sums: []string{"size"},
		Bins: []denorm.Period{denorm.Hourly, denorm.Daily}, Mark: "mark",
	})
	derivedInverted = inverted.New(derivedDocs, "by", "state", "tags")
)

// derivedEventOf returns the event of a new title. A document with the title z publishes its deletion, which isn't
// possible.
func derivedEventOf(before, after *derivedDoc) (derivedEvent, bool) {
	switch {
	case after == nil:
		return derivedEvent{Was: before.Title}, before.Title == "z"
	case before == nil:
		return derivedEvent{Now: after.Title}, after.Title == "x"
	}
	return derivedEvent{before.Title, after.Title}, before.Title != after.Title
}

const (
	hasKey = iota
	hasVersion
	hasText
	hasField
	hasAttrs
	hasSpread
	hasColumns
	hasOutbox
	hasRollup
	hasInverted
)

var derivedModels = machine[*derivedMemory]{
	name: "derived",
	base: []model.Technique{model.Entity(derivedDocs)},
	picks: []pick{
		{"Composite", derivedKey}, {"Versioned", derivedVersion}, {"Proximity", derivedText}, {"Field", derivedField},
		{"Attributes", derivedAttrs}, {"Spread", derivedSpread}, {"Columns", derivedColumns}, {"Outbox", derivedOutbox},
		{"Rollup", derivedRollup}, {"Inverted", derivedInverted},
	},
	// Roll removes marks in the documents alone, not in the flat documents.
	isValid: func(has picked) bool { return !has[hasColumns] || !has[hasRollup] },
	begin: func(w *world) *derivedMemory {
		return &derivedMemory{w, model.NewStore(w.model, derivedDocs), map[string]derivedDoc{}}
	},
	draws: []func(*rand.Rand) action[*derivedMemory]{
		derivedShelf.draw, derivedShelf.draw, derivedShelf.draw, derivedShelf.draw, derivedShelf.draw, rollDerived,
	},
	meetsPlain: func(picked, bool) bool { return true },
}

// derivedMemory has the documents as they must be stored.
type derivedMemory struct {
	*world
	store *model.Store[derivedDoc, string]
	docs  map[string]derivedDoc
}

func (m *derivedMemory) clone() *derivedMemory {
	return &derivedMemory{m.world, m.store, maps.Clone(m.docs)}
}

var derivedShelf = shelf[*derivedMemory, derivedDoc, string]{
	name:  "derived",
	store: func(m *derivedMemory) *model.Store[derivedDoc, string] { return m.store },
	docs:  func(m *derivedMemory) map[string]derivedDoc { return m.docs },
	id:    idOfDerived,
	put:   (*derivedMemory).put,
	drop:  (*derivedMemory).drop,
	keep: func(m *derivedMemory, stored, doc derivedDoc) derivedDoc {
		if m.has[hasSpread] {
			doc.Day = stored.Day
		}
		return doc
	},
	refuse: func(m *derivedMemory, stored, doc derivedDoc) error {
		if m.has[hasVersion] && shown(uncountedOf(stored)) != shown(uncountedOf(doc)) {
			return model.ErrStale
		}
		return nil
	},
	version: "version",
	random:  drawDerivedDoc,
	changes: [][]string{
		{"title"}, {"tags", "place", "attrs", "seen"}, {"user"}, {"title", "tags", "place", "attrs"},
		{"size"}, {"at"}, {"title", "day"},
	},
}

// uncountedOf returns the fields that a caller can write, but not change by a replacement, because no version counts
// them.
func uncountedOf(doc derivedDoc) derivedDoc {
	return derivedDoc{
		Tags: doc.Tags, Attrs: doc.Attrs, Place: doc.Place, Day: doc.Day, At: doc.At, State: doc.State, User: doc.User,
		Size: doc.Size, Seen: doc.Seen,
	}
}

func idOfDerived(doc derivedDoc) string {
	key, _ := derivedKey.KeyOf(doc.State, doc.User)
	return key
}

func drawDerivedDoc(r *rand.Rand) derivedDoc {
	doc := derivedDoc{
		State: drawLetter(r, 'a', 2), User: int64(r.IntN(2)), Title: drawLetter(r, 'x', 3), Size: int64(r.IntN(2)),
		At: time.Date(2026, 3, 1, r.IntN(2), 0, 0, 0, time.UTC),
	}
	for range r.IntN(3) {
		doc.Tags = append(doc.Tags, drawLetter(r, 'p', 3))
	}
	for range r.IntN(3) {
		doc.Attrs = append(doc.Attrs, derivedAttr{drawLetter(r, 'k', 4), int64(r.IntN(3))})
	}
	if r.IntN(2) == 0 {
		doc.Place = geofield.Point{Lat: float64(1 + r.IntN(3)), Lng: 5}
	}
	doc.Day, _ = derivedSpread.Key("day"+drawLetter(r, '0', 2), doc.Title)
	if r.IntN(4) > 0 {
		doc.ID = idOfDerived(doc)
	}
	return doc
}

// rollDerived returns the action that counts the events.
func rollDerived(*rand.Rand) action[*derivedMemory] {
	return action[*derivedMemory]{
		name: "Rollup.Roll", isLong: true,
		apply: func(m *derivedMemory, _ bson.ObjectID) error {
			if !m.has[hasRollup] {
				return errUndrawn
			}
			for id, doc := range m.docs {
				doc.Mark = nil
				m.docs[id] = doc
			}
			return nil
		},
		run: func(ctx context.Context, on model.DB, _ *derivedMemory) error {
			_, err := derivedRollup.Roll().Run(ctx, on, model.JobOptions{})
			return err
		},
	}
}
