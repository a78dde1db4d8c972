package engine

// This file has the command collMod, which changes a collection, one index of it, or a view:
//
//	{collMod: "things", index: {name: "n_1", hidden: true}, validationLevel: "off"}
//	{hidden_old: false, hidden_new: true, ok: 1.0}
//
// cmd_collmod_unique.go makes an index unique, cmd_collmod_events.go describes the change for change streams.

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var collModCommands = []*command{
	{name: "collMod", run: collMod, fields: []string{
		"index", "validator", "validationLevel", "validationAction", "viewOn", "pipeline", "cappedSize",
		"cappedMax", "changeStreamPreAndPostImages", "expireAfterSeconds", "timeseries", "dryRun",
	}},
}

// collMod changes the expiry, the visibility or the uniqueness of an index, the validator of a collection, the size of
// a capped collection, whether documents before and after changes are kept, or the stages of a view. It changes all of
// that in one write, or nothing.
func collMod(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	m := modification{request: r, Reader: r.args(), ns: ns}
	if err := m.read(); err != nil {
		return nil, err
	}
	var rep reply
	err = r.write(func(w *store.Writer) (err error) {
		rep, err = m.write(w)
		return err
	})
	return rep, err
}

// modification is a collMod command. Its fields are read before the write, so that a wrong field changes nothing.
// Whether a field was given, HasField says.
type modification struct {
	*args.Reader
	request    *request
	ns         store.Namespace
	validation forms.Validation
	images     bson.D       // changeStreamPreAndPostImages, as it is stored: nil turns it off
	size, max  int64        // cappedSize in bytes, and cappedMax, the number of documents
	index      *args.Reader // of the field index; empty without it
	dry        bool         // dryRun: the command says only whether an index could become unique
}

// write changes the collection or the view, and returns the reply.
func (m *modification) write(w *store.Writer) (reply, error) {
	c := w.Collection(m.ns)
	switch {
	case c == nil:
		return nil, newMissingError(m.ns)
	case c.View != nil:
		return nil, m.changeView(w, c)
	case m.HasField("viewOn") || m.HasField("pipeline"):
		return nil, mongoerr.New(mongoerr.InvalidOptions, "option only supported on a view: viewOn, pipeline")
	}
	return m.change(w, c)
}

// read reads the command's options.
func (m *modification) read() (err error) {
	m.Refuse("timeseries")
	m.validation, err = forms.ReadValidation(m.Reader, nil)
	m.Fail(err)
	m.images = forms.ReadImages(m.Reader, m.ns)
	m.size, m.max = forms.ReadCappedSize(m.Reader, "cappedSize"), forms.ReadCappedMax(m.Reader, "cappedMax")
	m.index = &args.Reader{Place: "collMod.index", Doc: m.Document("index")}
	m.Fail(m.index.CheckKnown([]string{"name", "keyPattern", "expireAfterSeconds", "hidden", "unique",
		"prepareUnique"}))
	m.dry = m.Boolean("dryRun", false)
	m.Fail(m.index.Err)
	m.Fail(m.checkUnique())
	return m.Err
}

// change changes a collection, and notes the change for change streams. A dry run and a time series collection have no
// event.
func (m *modification) change(w *store.Writer, c *store.Collection) (rep reply, err error) {
	if err := m.changeOptions(w, c); err != nil {
		return nil, err
	}
	var x *store.Index
	if m.HasField("index") {
		if x, err = m.findIndex(c); err != nil {
			return nil, err
		}
		rep, err = m.changeIndex(w, x)
	}
	if err == nil && !m.dry && c.Series == nil {
		w.NoteModification(m.ns, m.describeRequest(w, x), m.describeOptionsBefore(c, x))
	}
	return rep, err
}

// changeView gives a view another source or other stages. An option that the command doesn't have stays. asked are the
// options of the view after the change, which are read like those of create.
func (m *modification) changeView(w *store.Writer, c *store.Collection) error {
	asked := forms.ShowView(c.View)
	for _, e := range m.Doc[1:] {
		switch {
		case bsonval.Index(asked, e.Key) >= 0:
			asked[bsonval.Index(asked, e.Key)].Value = e.Value
		case slices.Contains(m.request.command.fields, e.Key):
			return mongoerr.New(mongoerr.InvalidOptions, "option not supported on a view: %s", e.Key)
		}
	}
	part := &args.Reader{Place: m.Place, Doc: asked, Watch: m.Watch}
	v := readView(m.request, part, m.ns)
	if part.Err != nil {
		return part.Err
	}
	if err := forms.PutView(w, m.ns, v); err != nil {
		return err
	}
	w.NoteModification(m.ns, forms.ShowView(v), nil)
	return nil
}

// changeOptions changes the options that listCollections shows, and the form and the check by which the store obeys
// them.
func (m *modification) changeOptions(w *store.Writer, c *store.Collection) error {
	// Each part of the command changes options, and form or check. They are stored at the end, if anything differs.
	options, form, check := c.Options, c.Form, c.Check
	if m.HasField("expireAfterSeconds") {
		var err error
		if options, err = m.changeExpiry(w, c); err != nil {
			return err
		}
	}
	if c.Series != nil && (len(m.validation.Given) > 0 || m.HasField(forms.ImagesOption)) {
		return mongoerr.New(mongoerr.InvalidOptions,
			"option not supported on a time-series collection: a validator, or %s", forms.ImagesOption)
	}
	if m.HasField("cappedSize") || m.HasField("cappedMax") {
		if c.Capped == nil {
			return mongoerr.New(mongoerr.InvalidOptions, "Collection must be capped.")
		}
		next := *c.Capped
		if m.HasField("cappedSize") {
			next.Size = m.size
		}
		if m.HasField("cappedMax") {
			next.Max = m.max
		}
		form.Capped = &next
		options = slices.Concat(forms.ShowCapped(&next), forms.RemoveOptions(options, "capped", "size", "max"))
	}
	if m.HasField(forms.ImagesOption) {
		options = append(forms.RemoveOptions(options, forms.ImagesOption), m.images...)
	}
	if len(m.validation.Given) > 0 {
		v, err := m.validation.Merge(options, c.Collation)
		if err != nil {
			return err
		}
		options, check = v.Replace(options), v.NewCheck()
	}
	if len(options) == len(c.Options) && bsonval.Equal(options, c.Options) {
		return nil
	}
	if err := w.SetForm(m.ns, options, form); err != nil {
		return err
	}
	return w.SetOptions(m.ns, options, check)
}

// changeExpiry reads expireAfterSeconds, a number of seconds or "off", for a time series collection or a clustered one.
// It replaces the hidden index by which measurements expire, and returns the new options.
func (m *modification) changeExpiry(w *store.Writer, c *store.Collection) (options bson.D, err error) {
	if c.Clustered != nil {
		return m.changeClusteredExpiry(w, c)
	}
	if c.Series == nil {
		return nil, mongoerr.New(mongoerr.InvalidOptions,
			"'expireAfterSeconds' is only supported on time-series collections and clustered ones")
	}
	// The old index goes even if the new value is "off".
	options = forms.RemoveOptions(c.Options, "expireAfterSeconds")
	if c.Index(store.SeriesTTL) != nil {
		if err := w.DropIndex(m.ns, store.SeriesTTL); err != nil {
			return nil, err
		}
	}
	v, _ := m.Get("expireAfterSeconds")
	if v == "off" {
		return options, nil
	}
	after, err := indexes.ReadExpiry(v)
	if err != nil {
		return nil, err
	}
	options = append(options, bson.E{Key: "expireAfterSeconds", Value: int64(after / time.Second)})
	return options, w.AddIndex(m.ns, c.Series.SeriesTTL(after))
}

// changeClusteredExpiry is changeExpiry for a clustered collection, whose first index has the expiry.
func (m *modification) changeClusteredExpiry(w *store.Writer, c *store.Collection) (options bson.D, err error) {
	next := *c.Indexes[0].Spec
	next.Expires, next.ExpireAfter = false, 0
	if v, _ := m.Get("expireAfterSeconds"); v != "off" {
		if next.ExpireAfter, err = indexes.ReadExpiry(v); err != nil {
			return nil, err
		}
		next.Expires = true
	}
	options = append(forms.ShowClustered(&store.Clustered{
		Name: next.Name, Expires: next.Expires, ExpireAfter: next.ExpireAfter,
	}),
		forms.RemoveOptions(c.Options, "clusteredIndex", "expireAfterSeconds")...)
	return options, w.AlterIndex(m.ns, &next)
}

// findIndex returns the index that the command means, by its name or by its keyPattern.
func (m *modification) findIndex(c *store.Collection) (*store.Index, error) {
	which, ok := m.index.Get("name")
	if !ok {
		which, _ = m.index.Get("keyPattern")
	}
	names, err := indexes.FindNames(c, which)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, mongoerr.New(mongoerr.IndexNotFound, "cannot find index %s for ns %s", store.Show(which), m.ns)
	}
	x := c.Index(names[0])
	if x.Spec.Clustered {
		return nil, mongoerr.New(6011800, "Cannot hide the clusteredIndex, nor change it by 'index'")
	}
	return x, nil
}

// changeIndex changes the index x, and returns the reply's fields about it. A dry run fails if the index couldn't
// become unique, and changes nothing.
func (m *modification) changeIndex(w *store.Writer, x *store.Index) (reply, error) {
	next := *x.Spec // a copy: older versions of the collection share the spec
	rep, err := changeSpec(m.index, &next)
	if err != nil {
		return nil, err
	}
	unique, err := m.changeUnique(w, x, &next)
	if err != nil || m.dry {
		return nil, err
	}
	return append(rep, unique...), w.AlterIndex(m.ns, &next)
}

// changeSpec changes expiry and visibility in the spec of an index. It returns the fields of the reply that have the
// old and the new value: {hidden_old: false, hidden_new: true}.
func changeSpec(part *args.Reader, s *store.IndexSpec) (rep reply, err error) {
	if v, ok := part.Get("expireAfterSeconds"); ok {
		if s.Expires {
			rep = append(rep, bson.E{Key: "expireAfterSeconds_old", Value: int64(s.ExpireAfter.Seconds())})
		}
		if len(s.Fields) > 1 {
			return nil, mongoerr.New(mongoerr.InvalidOptions,
				"TTL indexes are single-field indexes, compound indexes do not support TTL")
		}
		if s.ExpireAfter, err = indexes.ReadExpiry(v); err != nil {
			return nil, err
		}
		s.Expires = true
		rep = append(rep, bson.E{Key: "expireAfterSeconds_new", Value: int64(s.ExpireAfter.Seconds())})
	}
	if part.HasField("hidden") {
		rep = append(rep, bson.E{Key: "hidden_old", Value: s.Hidden})
		s.Hidden = part.Boolean("hidden", false)
		rep = append(rep, bson.E{Key: "hidden_new", Value: s.Hidden})
	}
	return rep, part.Err
}
