package design

import (
	"context"
	"errors"

	"github.com/docmodel/docmodel/denorm/bucket"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	page     = bucket.Doc[id, doc]
	pageDocs = model.Collection[page, string]
)

// pages are documents with up to max children of one parent. For lookups they are an
// entity in which the children are embedded.
type pages struct {
	rel    *relation // the relation of the children
	max    int64
	docs   *pageDocs
	bucket *bucket.Bucket[id, doc]
}

// pageList is the field of a page's children.
const pageList = "items"

// newPages returns the relation that embeds the children in their pages.
func (s *store) newPages(r *relation, max int64) *relation {
	p := &pages{rel: r, max: max, docs: model.NewCollection[page, string](r.Child)}
	p.bucket = bucket.New[id, doc](p.docs, bucket.Spec{Max: int(max)})
	host := &entity{Entity: &Entity{Name: r.Child, Count: r.parent.Count * p.each()}, number: r.child.number, pages: p}
	in := &relation{
		Relation: &Relation{Child: r.Child, Field: "page", Parent: r.Child, List: pageList},
		child:    r.child, parent: host,
	}
	host.children = []*relation{in}
	s.pages[in] = p
	return in
}

// paged reports whether home is the relation of children to their pages.
func (s *store) paged(home *relation) bool { return s.pages[home] != nil }

// each is the number of pages of a parent.
func (p *pages) each() int64 { return max(1, (int64(p.rel.average()+0.5)+p.max-1)/p.max) }

// newest is the number of pages that surely contain a parent's newest children. The last
// page may have only one.
func (p *pages) newest(children int64) int64 { return min(p.each(), 1+(children-1+p.max-1)/p.max) }

// sizePages computes the size of pages.
func (s *store) sizePages(p *pages) error {
	element := s.document(exampleWorld, p.rel.child, 0)
	item, err := sizeOf(element)
	if err != nil {
		return s.refuse("Entities", p.rel.Child, err.Error())
	}
	raw, err := bson.Marshal(page{ID: string(make([]byte, 40)), N: 1, Bytes: 1})
	if err != nil {
		return err
	}
	host := s.hostOf(p)
	list := listSize(pageList, p.rel.average()/float64(p.each()), item)
	z := size{
		average: float64(len(raw)) + list,
		largest: float64(len(raw)) + listSize(pageList, float64(p.max), item),
		lists:   map[string]float64{pageList: list},
	}
	if z.largest > model.MaxDocument {
		return s.refuse("Stored", s.layout.String(), "a page of "+p.rel.Child+" can grow beyond 16 MB")
	}
	s.sizes[host] = z
	return nil
}

// hostOf returns the entity that pages represent.
func (s *store) hostOf(p *pages) *entity { return s.home[p.rel.child].parent }

// query returns the query of a parent's pages, newest first; 0 means all.
func (p *pages) query(parent id, n int64) *model.Find[doc] {
	return &model.Find[doc]{Query: p.bucket.Newest(parent).Limited(n).Query}
}

// fillPages stores the children of all parents in their pages.
func (r *Runner) fillPages(ctx context.Context, db model.DB, home *relation) error {
	p := r.store.pages[home]
	var batch []page
	for parent := range p.rel.parent.Count {
		key := p.rel.parent.id(parent)
		children := r.world.childrenOf(p.rel, parent)
		for from := 0; from < len(children); from += int(p.max) {
			one := page{Key: key, Seq: int64(from) / p.max}
			for _, c := range children[from:min(from+int(p.max), len(children))] {
				element := r.store.document(r.world, p.rel.child, int64(c))
				n, err := sizeOf(element)
				if err != nil {
					return err
				}
				one.Items, one.N, one.Bytes = append(one.Items, element), one.N+1, one.Bytes+int64(n)
			}
			var err error
			if one.ID, err = p.id(key, one.Seq, one.Items[0]); err != nil {
				return err
			}
			batch = append(batch, one)
		}
		if len(batch) > fillBatch || parent == p.rel.parent.Count-1 {
			if _, err := p.docs.InsertMany(batch).Run(ctx, db); err != nil {
				return err
			}
			batch = nil
		}
	}
	return nil
}

// id returns the _id of a page, as the bucket makes it.
func (p *pages) id(key id, seq int64, element doc) (string, error) {
	w := p.bucket.AppendTo(key, seq, element)
	m, ok := w.Model.(*mongo.UpdateOneModel)
	if w.Err != nil || !ok {
		return "", errors.Join(w.Err, errors.New("design: a bucket isn't appended to by an update"))
	}
	filter, _ := m.Filter.(bson.D)
	one, _ := at(filter, "_id").(string)
	return one, nil
}
