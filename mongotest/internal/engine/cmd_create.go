package engine

// This file has the command create (https://www.mongodb.com/docs/manual/reference/command/create/). Package forms reads
// the options of each kind of collection. Commands:
//
//	{create: "log", capped: true, size: 4096, max: 100}
//	{create: "active", viewOn: "things", pipeline: [{$match: {active: true}}]}
//	{create: "weather", timeseries: {timeField: "t", metaField: "m"}, expireAfterSeconds: 60}
//	{create: "things", clusteredIndex: {key: {_id: 1}, unique: true}, validator: {n: {$gt: 0}}}

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/indexes"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var createCommands = []*command{
	{name: "create", txn: true, writes: true, run: create, fields: []string{
		"capped", "size", "max", "autoIndexId", "timeseries", "expireAfterSeconds", "clusteredIndex",
		"changeStreamPreAndPostImages", "storageEngine", "validator", "validationLevel", "validationAction",
		"indexOptionDefaults", "viewOn", "pipeline", "collation", "encryptedFields", "flags", "temp",
	}},
}

// create makes a collection or a view. An option that the engine doesn't have is refused, unless its value changes
// nothing. A collection that exists with the same options is no error, except in a transaction.
func create(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	x, err := readCreation(r, ns)
	if err != nil {
		return nil, err
	}
	createOrCompare := func(w *store.Writer) error {
		c := w.Collection(ns)
		if c == nil {
			return x.create(w, ns)
		}
		if r.txn != nil || !hasSameOptions(c.Options, x.options) || (c.View == nil) != (x.form.View == nil) {
			return mongoerr.New(mongoerr.NamespaceExists, "namespace %s already exists, but with different options: %s",
				ns, store.Show(c.Options))
		}
		return nil
	}
	return nil, r.write(createOrCompare)
}

// creation is a create command that has been read.
type creation struct {
	form       store.Form // the kind of the collection
	options    bson.D     // as listCollections will show them
	validation forms.Validation
	expires    bool // the measurements of a time series expire. A clustered collection has its expiry in the form
	after      time.Duration
}

// readCreation reads the options of a create command. The order of the options in the reply of listCollections is
// MongoDB's, whatever their order in the command.
func readCreation(r *request, ns store.Namespace) (*creation, error) {
	a := r.args()
	x := &creation{}
	x.form.View, x.form.Capped = readView(r, a, ns), forms.ReadCapped(a)
	var series bson.D
	x.form.Series, series = forms.ReadSeries(a)
	x.after, x.expires = readSeriesExpiry(a)
	// The documents of a clustered collection expire by its clustered index, so that no other index is needed.
	clustered := forms.ReadClustered(a)
	if x.form.Clustered = clustered; clustered != nil {
		clustered.Expires, clustered.ExpireAfter, x.expires = x.expires, x.after, false
		x.options = forms.ShowClustered(clustered)
	}
	// Options that the engine can't serve.
	for _, name := range []string{"encryptedFields", "temp"} {
		a.Refuse(name)
	}
	for _, name := range []string{"storageEngine", "indexOptionDefaults"} {
		a.Refuse(name, bson.D{})
	}
	a.Refuse("autoIndexId", true)
	by := readDefault(a, x.form)
	a.Integer("flags", 0)
	if by != nil {
		x.options = append(x.options, bson.E{Key: "collation", Value: by.Document()})
	}
	if x.form.Capped != nil {
		x.options = append(x.options, forms.ShowCapped(x.form.Capped)...)
	}
	x.options = append(x.options, forms.ReadImages(a, ns)...)
	var err error
	x.validation, err = forms.ReadValidation(a, by)
	a.Fail(err)
	x.options = append(x.options, x.validation.Given...)
	// Which kinds and options go together.
	switch {
	case a.Err != nil:
	case clustered != nil && (x.form.Capped != nil || x.form.Series != nil):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "a clustered collection can be neither capped nor a time series"))
	case x.form.View != nil && len(x.options)+len(series) > 0:
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"a view takes no other options than 'viewOn', 'pipeline' and 'collation', not %s",
			store.Show(append(x.options, series...))))
	case x.form.View != nil:
		x.options = forms.ShowView(x.form.View)
	case x.form.Series != nil && (len(x.options) > 0 || r.txn != nil):
		a.Fail(mongoerr.New(mongoerr.InvalidOptions,
			"a time-series collection can't be made in a transaction, and takes no other options "+
				"than 'timeseries', 'expireAfterSeconds' and 'collation', not %s", store.Show(x.options)))
	case x.expires: // a time series, because the expiry of a clustered collection is in its form
		series = append(series, bson.E{Key: "expireAfterSeconds", Value: int64(x.after / time.Second)})
		fallthrough
	default:
		x.options = append(x.options, series...)
	}
	return x, a.Err
}

// readDefault reads the default collation of a collection, nil for the simple collation. The engine has no default
// collation of views and time series, and refuses it.
func readDefault(a *args.Reader, form store.Form) *collation.Collator {
	spec, ok := a.Get("collation")
	switch {
	case !ok || a.Document("collation") == nil:
		return nil
	case form.View != nil || form.Series != nil:
		a.Refuse("collation", bson.D{}, bson.D{{Key: "locale", Value: "simple"}})
		return nil
	}
	by, err := collation.Parse(spec.(bson.D), "create.collation")
	a.Fail(err)
	return by
}

// create makes the collection or the view, which doesn't exist.
func (x *creation) create(w *store.Writer, ns store.Namespace) error {
	switch {
	case x.form.View != nil:
		return forms.PutView(w, ns, x.form.View)
	case x.form.Series != nil:
		return createSeries(w, ns, x)
	}
	if err := w.CreateAs(ns, x.options, x.form); err != nil || len(x.validation.Given) == 0 {
		return err
	}
	return w.SetOptions(ns, x.options, x.validation.NewCheck())
}

// hasSameOptions reports whether two collections have equal options, in any order.
func hasSameOptions(a, b bson.D) bool {
	for _, e := range a {
		if v, ok := bsonval.Get(b, e.Key); !ok || !bsonval.Equal(v, e.Value) {
			return false
		}
	}
	return len(a) == len(b)
}

// readSeriesExpiry reads expireAfterSeconds, after which measurements, or documents of a clustered collection, expire.
func readSeriesExpiry(a *args.Reader) (after time.Duration, ok bool) {
	v, ok := a.Get("expireAfterSeconds")
	if !ok {
		return 0, false
	}
	after, err := indexes.ReadExpiry(v)
	a.Fail(err)
	return after, true
}

// createSeries makes a time series collection, with the index on meta and time that MongoDB gives it since 6.3. If the
// measurements expire, it has another index, which isn't shown.
func createSeries(w *store.Writer, ns store.Namespace, x *creation) error {
	s := x.form.Series
	if err := w.CreateAs(ns, x.options, x.form); err != nil {
		return err
	}
	if s.Meta != "" {
		key := bson.D{{Key: s.Meta, Value: int32(1)}, {Key: s.Time, Value: int32(1)}}
		spec := &store.IndexSpec{Name: indexes.MakeName(key), Key: key,
			Fields: []store.Field{store.NewField(s.Meta, store.Ordered, false),
				store.NewField(s.Time, store.Ordered, false)}}
		if err := w.AddIndex(ns, spec); err != nil {
			return err
		}
	}
	if x.expires {
		return w.AddIndex(ns, s.SeriesTTL(x.after))
	}
	return nil
}
