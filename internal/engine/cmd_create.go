package engine

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/engine/store"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

func init() {
	register(&command{name: "create", txn: true, writes: true, run: create, fields: []string{
		"capped", "size", "max", "autoIndexId", "timeseries", "expireAfterSeconds", "clusteredIndex",
		"changeStreamPreAndPostImages", "storageEngine", "validator", "validationLevel", "validationAction",
		"indexOptionDefaults", "viewOn", "pipeline", "collation", "encryptedFields", "flags", "temp",
	}})
}

// create makes a collection or a view. Every option that would change what it does, and that the engine hasn't, is
// refused.
func create(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	view := readView(r, a, ns)
	var form store.Form
	var options bson.D
	if form.Capped = readCapped(a); form.Capped != nil {
		options = cappedOptions(form.Capped)
	}
	series, seriesOptions := readSeries(a)
	after, expires := readSeriesExpiry(a)
	for _, name := range []string{"clusteredIndex", "encryptedFields", "temp"} {
		a.refuse(name)
	}
	for _, name := range []string{"storageEngine", "indexOptionDefaults"} {
		a.refuse(name, bson.D{})
	}
	a.refuse("autoIndexId", true)
	a.collation()
	a.integer("flags", 0)
	options = append(options, readImages(a, ns)...)
	v, err := readValidation(a)
	a.fail(err)
	if a.err != nil {
		return nil, a.err
	}
	if view != nil {
		if len(options)+len(v.given)+len(seriesOptions) > 0 {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "a view takes no other options than 'viewOn', 'pipeline' and 'collation': %s",
				store.Show(append(options, v.given...)))
		}
		return nil, r.write(func(w *store.Writer) error {
			if w.Collection(ns) != nil {
				return w.Create(ns, nil) // which says that it is there
			}
			return putView(w, ns, view)
		})
	}
	if series != nil {
		if len(options)+len(v.given) > 0 || r.txn != nil {
			return nil, mongoerr.New(mongoerr.InvalidOptions, "a time-series collection can't be made in a transaction, and takes no other options "+
				"than 'timeseries', 'expireAfterSeconds' and 'collation': %s", store.Show(append(options, v.given...)))
		}
		if expires {
			seriesOptions = append(seriesOptions, bson.E{Key: "expireAfterSeconds", Value: int64(after / time.Second)})
		}
		return nil, r.write(func(w *store.Writer) error { return createSeries(w, ns, seriesOptions, series, expires, after) })
	}
	return nil, r.write(func(w *store.Writer) error {
		if err := w.CreateAs(ns, options, form); err != nil || len(v.given) == 0 {
			return err
		}
		return w.SetOptions(ns, append(options, v.given...), v.check())
	})
}

// readSeriesExpiry reads after how long measurements expire.
func readSeriesExpiry(a *args) (after time.Duration, ok bool) {
	v, ok := a.get("expireAfterSeconds")
	if !ok {
		return 0, false
	}
	after, err := expiry(v)
	a.fail(err)
	return after, true
}

const imagesOption = "changeStreamPreAndPostImages"

// readImages reads changeStreamPreAndPostImages, as the options that a collection has by it: none if it is off.
func readImages(a *args, ns store.Namespace) bson.D {
	images := a.document(imagesOption)
	if images == nil {
		return nil
	}
	part := &args{place: a.place + "." + imagesOption, doc: images}
	a.fail(part.known([]string{"enabled"}))
	part.required("enabled")
	on := part.boolean("enabled", false)
	a.fail(part.err)
	if !on {
		return nil
	}
	if slices.Contains(internalDatabases, ns.DB) {
		a.fail(mongoerr.New(mongoerr.InvalidOptions, "%s collection option is not supported on the %s database", imagesOption, ns.DB))
	}
	return bson.D{{Key: imagesOption, Value: bson.D{{Key: "enabled", Value: true}}}}
}

// maxCappedSize is the largest size of a capped collection: 1 PB.
const maxCappedSize = 1 << 50

// readCapped reads the options of a capped collection, nil if the command asks for none.
func readCapped(a *args) *store.Capped {
	capped := a.boolean("capped", false)
	switch {
	case capped && !a.has("size"):
		a.fail(mongoerr.New(mongoerr.InvalidOptions, "the 'size' field is required when 'capped' is true"))
	case !capped && (a.has("size") || a.has("max")):
		a.fail(mongoerr.New(mongoerr.InvalidOptions, "the 'capped' field needs to be true when either the 'size' or 'max' fields are present"))
	}
	c := &store.Capped{Size: cappedSize(a, "size"), Max: cappedMax(a, "max")}
	if !capped {
		return nil
	}
	return c
}

func cappedSize(a *args, name string) int64 {
	n := a.integer(name, 1)
	if n < 1 || n > maxCappedSize {
		a.fail(mongoerr.New(51024, "BSON field '%s.%s' value must be >= 1 and <= %d, actual value '%d'", a.place, name, int64(maxCappedSize), n))
	}
	return n
}

// cappedMax reads the number of documents of a capped collection, which means any number unless it is positive.
func cappedMax(a *args, name string) int64 {
	n := a.integer(name, 0)
	if n >= 1<<31 {
		a.fail(mongoerr.New(mongoerr.BadValue, "max in a capped collection has to be < 2^31 or not set"))
	}
	return max(n, 0)
}

func cappedOptions(c *store.Capped) bson.D {
	d := bson.D{{Key: "capped", Value: true}, {Key: "size", Value: number(c.Size)}}
	if c.Max > 0 {
		d = append(d, bson.E{Key: "max", Value: number(c.Max)})
	}
	return d
}
