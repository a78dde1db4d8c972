// Package failpoint decides which commands fail because a client configured a fail point, as MongoDB does for tests
// (https://github.com/mongodb/mongo/wiki/The-%22failCommand%22-fail-point). The engine is the only caller.
//
// A command after which the next two finds fail with code 11600:
//
//	{configureFailPoint: "failCommand", mode: {times: 2}, data: {failCommands: ["find"], errorCode: 11600}}
//
// The words: a fail point hits when it makes a command fail. Its mode says which calls hit. Its data says which
// commands it is about, and how they fail.
//
// # Protocol
//
//  1. An engine has one [Set]. All its fail points are off.
//  2. The command configureFailPoint calls Configure, which replaces the mode and the data of one fail point.
//  3. At the place of a fail point the engine calls Hit. The engine's function decides whether the fail point's data is
//     about the command at hand, by [Failure.IsAbout]. Then the mode decides: a number of hits, a number of calls to
//     skip, or a probability.
//  4. If Hit returns a [Failure], the engine does what it says: waits, closes the connection, returns an error. This
//     package does none of it.
//
// A Failure never changes, so that a command can use it while another client configures the fail point again. Fail
// points other than the three constants are refused by name.
package failpoint

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

// Set are the fail points of an engine. Each is off until it is configured.
type Set struct {
	mu     sync.Mutex
	points map[string]*point // that have been configured, by name
}

// point is a fail point as it was configured last.
type point struct {
	mode mode
	left int64   // if mode is times: how many hits are left; if it is skip: how many calls are still skipped
	odds float64 // if mode is chance: the probability of a hit
	data Failure
	hits int64 // since the engine's start
}

// mode says which calls of Hit hit.
type mode int8

const (
	off    mode = iota
	always      // "alwaysOn"
	times       // {times: n}: the next n calls
	skip        // {skip: n}: all calls but the next n
	chance      // {activationProbability: p}: a call with this probability
)

// The names of the fail points.
const (
	Command        = "failCommand"                    // before and after any command
	GetMore        = "failGetMoreAfterCursorCheckout" // when a getMore has its cursor
	RetryableWrite = "onPrimaryTransactionalWrite"    // after a statement of a retryable write
)

// readers read the data of each fail point. A name without a reader is a fail point that the engine doesn't have.
var readers = map[string]func(a *args.Reader) Failure{
	Command:        readCommand,
	GetMore:        readGetMore,
	RetryableWrite: readRetryableWrite,
}

// readMode reads when the fail point hits.
func (p *point) readMode(a *args.Reader) error {
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

// readCount reads a mode with a number.
func (p *point) readCount(a *args.Reader) error {
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

// Configure reads the mode and the data of a fail point, and puts it in place of the one of that name. It returns how
// often the fail point has hit since the engine's start.
func (f *Set) Configure(name string, a *args.Reader) (hits int64, err error) {
	read := readers[name]
	if read == nil {
		known := slices.Sorted(maps.Keys(readers))
		return 0, mongoerr.New(mongoerr.FailPointSetFailed, "%s not found; the fail points are %s", name,
			strings.Join(known, ", "))
	}
	next := &point{}
	if err := next.readMode(a); err != nil {
		return 0, err
	}
	data := a.Document("data")
	if a.Err != nil {
		return 0, a.Err
	}
	// A fail point that is switched off may have any data: MongoDB doesn't read it.
	part := &args.Reader{Place: name + ".data", Doc: data}
	if next.data = read(part); part.Err != nil && next.mode != off {
		return 0, part.Err
	}
	return f.set(name, next), nil
}

// set puts a fail point in place of the one of that name.
func (f *Set) set(name string, p *point) (hits int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.points == nil {
		f.points = map[string]*point{}
	}
	if old := f.points[name]; old != nil {
		p.hits = old.hits
	}
	f.points[name] = p
	return p.hits
}

// Hit returns the fail point's data if the fail point is on, and if matches reports that the data is about the caller's
// command. Only such a call counts as a hit, or as one that is skipped.
func (f *Set) Hit(name string, matches func(data *Failure) bool) *Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.points[name]
	if p == nil || p.mode == off || !matches(&p.data) {
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
