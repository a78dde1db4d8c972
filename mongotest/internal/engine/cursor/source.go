package cursor

import (
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
)

// Source delivers the documents of a cursor, nil after the last document. Next isn't called after Close. Close may be
// called several times.
type Source interface {
	Next() (bson.D, error)
	Close()
}

// Stream is a source that can have further documents after a nil: a change stream.
type Stream interface {
	Source
	// Position returns the resume token after the last document.
	Position() bson.D
	// IsOver reports whether no document will follow.
	IsOver() bool
	// SignalChange returns a channel that is closed when there may be further documents.
	SignalChange() <-chan struct{}
}

// documents is a source with all documents in memory.
type documents struct{ rest []bson.D }

// NewDocuments returns a source of these documents.
func NewDocuments(list []bson.D) Source { return &documents{list} }

func (d *documents) Close() {}

func (d *documents) Next() (bson.D, error) {
	if len(d.rest) == 0 {
		return nil, nil
	}
	doc := d.rest[0]
	d.rest = d.rest[1:]
	return doc, nil
}

// pulled is a running pipeline.
type pulled struct {
	more func() (bson.D, error, bool)
	stop func()
}

// Pull returns a source that runs a pipeline as far as documents are asked for.
func Pull(docs pipeline.Docs) Source {
	p := &pulled{}
	p.more, p.stop = iter.Pull2(docs)
	return p
}

func (p *pulled) Next() (bson.D, error) {
	d, err, _ := p.more()
	return d, err
}

func (p *pulled) Close() { p.stop() }
