package compose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/geohash/geofield"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Models whose techniques write in the document itself.
type (
	derivedDoc struct {
		ID      string         `bson:"_id"`
		State   string         `bson:"state"`
		User    int64          `bson:"user"`
		Title   string         `bson:"title"`
		Seen    int64          `bson:"seen"`
		Tags    []string       `bson:"tags,omitempty"`
		TagText string         `bson:"tagText,omitempty"`
		Place   geofield.Point `bson:"place,omitempty"`
		Key     int64          `bson:"key,omitempty"`
		Attrs   []derivedAttr  `bson:"attrs,omitempty"`
		Day     string         `bson:"day,omitempty"`
		Version int64          `bson:"version,omitempty"`
	}
	derivedAttr struct {
		K string `bson:"k"`
		V int64  `bson:"v"`
	}
)

var (
	derivedDocs      = model.NewCollection[derivedDoc, string]("derived")
	derivedKey       = keys.NewComposite(derivedDocs, keys.Text("state"), keys.Int("user"))
	derivedVersion   = embed.NewVersioned(derivedDocs, embed.VersionedSpec{Uncounted: []string{"seen", "tags", "tagText", "attrs", "key", "place", "day"}})
	derivedText      = denorm.NewProximity(derivedDocs, "tags", denorm.ProximitySpec{Text: "tagText"})
	derivedField     = geofield.NewField(derivedDocs, "place", "key", geofield.FieldSpec{})
	derivedAttrs     = denorm.NewAttributes(derivedDocs, "attrs", denorm.AttributesSpec{})
	derivedSpread    = keys.NewSpread(derivedDocs, "day", keys.SpreadSpec{Parts: 5, By: "title"})
	derivedColumns   = denorm.NewColumns(derivedDocs, "flat", denorm.ColumnsSpec{})
	derivedTechnique = []model.Technique{derivedKey, derivedVersion, derivedText, derivedField, derivedAttrs, derivedSpread, derivedColumns}
	derivedNames     = []string{"Composite", "Versioned", "Proximity", "Field", "Attributes", "Spread", "Columns"}
)

const (
	hasKey = iota
	hasVersion
	hasText
	hasField
	hasAttrs
	hasSpread
	hasColumns
	derivedCount
)

type derivedModel struct {
	has       [derivedCount]bool
	model     *model.Model
	store     *model.Store[derivedDoc, string]
	tx, scope bool
}

func drawDerived(r *rand.Rand) *derivedModel {
	d := &derivedModel{tx: r.IntN(2) == 0, scope: r.IntN(3) == 0}
	var list []model.Technique
	for i := range derivedCount {
		if d.has[i] = r.IntN(2) == 0 && (i != hasColumns || d.tx); d.has[i] {
			list = append(list, derivedTechnique[i])
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	d.model = model.New("derived", append(list, model.Entity(derivedDocs))...)
	d.store = model.NewStore(d.model, derivedDocs)
	return d
}

func (d *derivedModel) String() string {
	var parts []string
	for i, has := range d.has {
		if has {
			parts = append(parts, derivedNames[i])
		}
	}
	return fmt.Sprintf("transactions %v, scope %v, %s", d.tx, d.scope, strings.Join(parts, ", "))
}

func (d *derivedModel) handle(ctx context.Context, db *mongo.Database) (model.DB, error) {
	return (&drawn{model: d.model, tx: d.tx, scope: d.scope}).handle(ctx, db)
}

// derivedMemory has the documents as they must be stored.
type derivedMemory struct {
	d    *derivedModel
	docs map[string]derivedDoc
}

func (m *derivedMemory) clone() *derivedMemory { return &derivedMemory{m.d, maps.Clone(m.docs)} }

// put stores what a write makes of a document. was is nil for an insert.
func (m *derivedMemory) put(was *derivedDoc, doc derivedDoc, token bson.ObjectID) error {
	if m.d.has[hasKey] {
		key, err := derivedKey.KeyOf(doc.State, doc.User)
		if err != nil || doc.ID != "" && doc.ID != key {
			return errRefused
		}
		doc.ID = key
	}
	seen := map[string]bool{}
	for _, a := range doc.Attrs {
		if m.d.has[hasAttrs] && seen[a.K] {
			return errRefused
		}
		seen[a.K] = true
	}
	if m.d.has[hasText] {
		doc.TagText = ""
		if len(doc.Tags) > 0 {
			doc.TagText = "|" + strings.Join(doc.Tags, "|") + "|"
		}
	}
	if m.d.has[hasField] {
		doc.Key = 0
		if !doc.Place.IsZero() {
			key, _ := geohash.Encode(geohash.Point(doc.Place))
			doc.Key = int64(key)
		}
	}
	if m.d.has[hasSpread] {
		value, _, _ := strings.Cut(doc.Day, "#")
		doc.Day, _ = derivedSpread.Key(value, doc.Title)
	}
	if m.d.has[hasVersion] {
		switch {
		case was == nil:
			w := derivedVersion.Insert(derivedDoc{ID: "x"}, token)
			doc.Version = w.Model.(*mongo.InsertOneModel).Document.(bson.Raw).Lookup("version").Int64()
		case was.Title != doc.Title || was.State != doc.State || was.User != doc.User:
			doc.Version = was.Version + 1
		}
	}
	if _, taken := m.docs[doc.ID]; taken && was == nil {
		return model.ErrTaken
	}
	m.docs[doc.ID] = doc
	return nil
}

var errRefused = errors.New("refused")

// derivedAction is one write through a store, and through the memory.
type derivedAction struct {
	name  string
	token bson.ObjectID
	apply func(m *derivedMemory) error
	run   func(s *model.Store[derivedDoc, string]) model.Change[model.Stored[derivedDoc]]
}

func (a derivedAction) runOn(ctx context.Context, db model.DB, d *derivedModel) error {
	return last(a.run(d.store).Run(model.WithToken(ctx, a.token), db))
}

func drawDerivedDoc(r *rand.Rand) derivedDoc {
	doc := derivedDoc{State: string(rune('a' + r.IntN(2))), User: int64(r.IntN(2)), Title: string(rune('x' + r.IntN(3)))}
	for range r.IntN(3) {
		doc.Tags = append(doc.Tags, string(rune('p'+r.IntN(3))))
	}
	for range r.IntN(3) {
		doc.Attrs = append(doc.Attrs, derivedAttr{string(rune('k' + r.IntN(4))), int64(r.IntN(3))})
	}
	if r.IntN(2) == 0 {
		doc.Place = geofield.Point{Lat: float64(1 + r.IntN(3)), Lng: 5}
	}
	doc.Day, _ = derivedSpread.Key("day"+string(rune('0'+r.IntN(2))), doc.Title)
	doc.ID, _ = derivedKey.KeyOf(doc.State, doc.User)
	return doc
}

func (m *derivedMemory) draw(r *rand.Rand) derivedAction {
	doc := drawDerivedDoc(r)
	a := derivedAction{token: bson.NewObjectID(), name: fmt.Sprintf("%+v", doc)}
	edit := func(name string, change func(*derivedDoc)) derivedAction {
		a.name = fmt.Sprintf("%s(%s) of %+v", name, doc.ID, doc)
		a.apply = func(m *derivedMemory) error {
			was, there := m.docs[doc.ID]
			if !there {
				return model.ErrNotFound
			}
			now := was
			change(&now)
			return m.put(&was, now, a.token)
		}
		a.run = func(s *model.Store[derivedDoc, string]) model.Change[model.Stored[derivedDoc]] {
			return s.Edit(doc.ID, func(d *derivedDoc) error { change(d); return nil })
		}
		return a
	}
	switch r.IntN(8) {
	case 0, 1, 2:
		if r.IntN(2) == 0 && m.d.has[hasKey] {
			doc.ID = ""
		}
		a.name = "insert " + a.name
		a.apply = func(m *derivedMemory) error { return m.put(nil, doc, a.token) }
		a.run = func(s *model.Store[derivedDoc, string]) model.Change[model.Stored[derivedDoc]] { return s.Insert(doc) }
		return a
	case 3:
		return edit("title", func(d *derivedDoc) { d.Title = doc.Title })
	case 4:
		return edit("derived", func(d *derivedDoc) { d.Tags, d.Place, d.Attrs, d.Seen = doc.Tags, doc.Place, doc.Attrs, doc.Seen })
	case 5:
		user := int64(r.IntN(2))
		return edit(fmt.Sprintf("user %d", user), func(d *derivedDoc) { d.User = user })
	case 6:
		a.name = "delete " + doc.ID
		a.apply = func(m *derivedMemory) error {
			if _, there := m.docs[doc.ID]; !there {
				return model.ErrNotFound
			}
			delete(m.docs, doc.ID)
			return nil
		}
		a.run = func(s *model.Store[derivedDoc, string]) model.Change[model.Stored[derivedDoc]] {
			return s.Delete(doc.ID)
		}
		return a
	}
	return edit("all", func(d *derivedDoc) { d.Title, d.Tags, d.Place, d.Attrs = doc.Title, doc.Tags, doc.Place, doc.Attrs })
}

// differs returns how the database differs from the memory, or what the audit finds.
func (m *derivedMemory) differs(ctx context.Context, on model.DB) string {
	docs, err := derivedDocs.Find(nil).All(ctx, on)
	if err != nil {
		return err.Error()
	}
	byID := func(a, b derivedDoc) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(docs, byID)
	want := slices.SortedFunc(maps.Values(m.docs), byID)
	if problem := modeltest.Diff(want, docs); problem != "" {
		return problem
	}
	if m.d.has[hasColumns] {
		flat, err := model.NewCollection[bson.Raw, string]("flat").Find(nil).All(ctx, on)
		if err != nil || len(flat) != len(docs) {
			return fmt.Sprintf("%d flat documents of %d, %v", len(flat), len(docs), err)
		}
		for _, raw := range flat {
			doc, err := derivedColumns.Back(raw)
			if problem := modeltest.Diff(m.docs[doc.ID], doc); err != nil || problem != "" {
				return fmt.Sprintf("a flat document: %v, %s", err, problem)
			}
		}
	}
	for f, err := range m.d.model.Audit().Each(ctx, on) {
		return fmt.Sprintf("the audit finds %s (%v)", f, err)
	}
	return ""
}

// sameRefusal compares errors as sameError does, and takes a ValueError for errRefused.
func sameRefusal(got, want error) string {
	if value := (*model.ValueError)(nil); errors.Is(want, errRefused) && errors.As(got, &value) {
		return ""
	}
	return sameError(got, want)
}
