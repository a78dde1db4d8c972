package engine

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
)

func init() {
	register(&command{name: "configureFailPoint", admin: true, fields: []string{"mode", "data"}, run: configureFailPoint})
}

// failPoints are the places in the engine at which a client lets it fail, as MongoDB's are
// (https://github.com/mongodb/mongo/wiki/The-%22failCommand%22-fail-point). Each is off until it is configured.
type failPoints struct {
	mu   sync.Mutex
	some map[string]*failPoint // those that have been configured
}

// failPoint is one of them, as it was configured last.
type failPoint struct {
	mode mode
	left int64   // times: how often it still hits; skip: how often it still doesn't
	odds float64 // chance: how likely it hits
	data failure
	hits int64 // since the engine's start
}

type mode int8

const (
	off mode = iota
	always
	times
	skip
	chance
)

// The engine's fail points.
const (
	failCommand   = "failCommand"
	failGetMore   = "failGetMoreAfterCursorCheckout"
	failRetryable = "onPrimaryTransactionalWrite"
)

var failReaders = map[string]func(a *args.Reader) failure{
	failCommand:   readFailCommand,
	failGetMore:   readFailGetMore,
	failRetryable: readFailRetryable,
}

func configureFailPoint(r *request) (reply, error) {
	name, ok := r.body[0].Value.(string)
	if !ok {
		return nil, mongoerr.New(mongoerr.TypeMismatch, "configureFailPoint takes the name of a fail point, not %s",
			bsonval.TypeName(r.body[0].Value))
	}
	read := failReaders[name]
	if read == nil {
		known := slices.Sorted(maps.Keys(failReaders))
		return nil, mongoerr.New(mongoerr.FailPointSetFailed, "%s not found; the fail points are %s", name,
			strings.Join(known, ", "))
	}
	a := r.args()
	next := &failPoint{}
	if err := next.readMode(a); err != nil {
		return nil, err
	}
	data := a.Document("data")
	if a.Err != nil {
		return nil, a.Err
	}
	part := &args.Reader{Place: name + ".data", Doc: data}
	if next.data = read(part); part.Err != nil && next.mode != off {
		return nil, part.Err
	}
	return reply{{Key: "count", Value: r.engine.fails.set(name, next)}}, nil
}

// readMode reads when the fail point hits.
func (p *failPoint) readMode(a *args.Reader) error {
	v, ok := a.Get("mode")
	if !ok {
		return mongoerr.New(mongoerr.IllegalOperation, "When setting a failpoint, you must supply a 'mode'")
	}
	switch v := v.(type) {
	case string:
		switch v {
		case "off":
		case "alwaysOn":
			p.mode = always
		default:
			return mongoerr.New(mongoerr.BadValue, "unknown mode: %s", v)
		}
		return nil
	case bson.D:
		return p.readCount(&args.Reader{Place: "mode", Doc: v})
	}
	return mongoerr.New(mongoerr.TypeMismatch, "'mode' must be a string or JSON object")
}

func (p *failPoint) readCount(a *args.Reader) error {
	if len(a.Doc) != 1 {
		return mongoerr.New(mongoerr.BadValue,
			"'mode' must be one of 'off', 'alwaysOn', 'times', 'skip' and 'activationProbability'")
	}
	switch name := a.Doc[0].Key; name {
	case "times", "skip":
		p.mode = times
		if name == "skip" {
			p.mode = skip
		}
		p.left = a.Integer(name, 0)
		switch {
		case a.Err != nil:
		case p.left < 0:
			a.Err = mongoerr.New(mongoerr.BadValue, "'%s' option to 'mode' must be positive", name)
		case p.left > math.MaxInt32:
			a.Err = mongoerr.New(mongoerr.BadValue, "'%s' option to 'mode' is too large", name)
		case p.left == 0 && p.mode == times:
			p.mode = off
		}
	case "activationProbability":
		p.mode = chance
		v, _ := a.Get(name)
		odds, ok := bsonval.Float(v)
		switch {
		case !ok:
			a.Err = mongoerr.New(mongoerr.TypeMismatch,
				"the 'activationProbability' option to 'mode' must be a double between 0 and 1")
		case !(odds >= 0 && odds <= 1):
			a.Err = mongoerr.New(mongoerr.BadValue, "activationProbability must be between 0.0 and 1.0; found %v", odds)
		}
		p.odds = odds
	default:
		return mongoerr.New(mongoerr.BadValue, "unknown option to 'mode': %s", name)
	}
	return a.Err
}

// set puts a fail point in place of the one of that name, and returns how often that has hit.
func (f *failPoints) set(name string, p *failPoint) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.some == nil {
		f.some = map[string]*failPoint{}
	}
	if old := f.some[name]; old != nil {
		p.hits = old.hits
	}
	f.some[name] = p
	return p.hits
}

// hit returns the fail point's data if it is on, and if which says that the data is about the command at hand: that
// alone counts.
func (f *failPoints) hit(name string, which func(data *failure) bool) *failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.some[name]
	if p == nil || p.mode == off || !which(&p.data) {
		return nil
	}
	switch p.mode {
	case times:
		if p.left--; p.left == 0 {
			p.mode = off
		}
	case skip:
		if p.left > 0 {
			p.left--
			return nil
		}
	case chance:
		if rand.Float64() >= p.odds {
			return nil
		}
	}
	p.hits++
	return &p.data
}
