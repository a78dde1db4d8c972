package relate

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Link returns the write that stores a link. Run again with the same document, it recognizes its own; a pair that another
// document ties gives a [*LinkedError], and so does one that ties it with other fields under the same _id. That the
// documents at both ends exist is not checked: store them first.
//
// Cost: one command, one document; on a pair that is linked already, one or two commands more to tell whose it is.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Link(link L) model.Write {
	w := j.links.Insert(link)
	if w.Err != nil {
		return w
	}
	pair, err := j.pairOf(&link)
	j.in.link(&w, pair, err)
	return w
}

// LinkAll returns the plan that stores links in order, each as [JoinCollection.Link] does. A pair that is given twice
// refuses all of them. The first that another document ties already ends the plan with a [*LinkedError]; those before it
// stay. No link at all gives a plan that does nothing.
//
// Cost: one command for each 25,000 links or 16 MiB; documents written: all. A plan that was cut can be run again.
func (j *JoinCollection[L, LK, A, AK, B, BK]) LinkAll(links []L) model.Plan {
	return j.many(links, j.Link)
}

// Ensure returns the write that links a pair unless it is linked: a link that is there already stays as it is, fields and
// _id too. It can be run again; of two at once, one is stored.
//
// Cost: one command, one document; one command more when two writers met.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Ensure(link L) model.Write {
	w := j.Link(link)
	if w.Err != nil {
		return w
	}
	pair, err := j.pairOf(&link)
	return j.in.ensure(w, pair, err)
}

// EnsureAll returns the plan that links pairs in order, each as [JoinCollection.Ensure] does. A pair that is given twice
// refuses all of them. No link at all gives a plan that does nothing.
//
// Cost: one command for each 25,000 links or 16 MiB; documents written: all that were not there.
func (j *JoinCollection[L, LK, A, AK, B, BK]) EnsureAll(links []L) model.Plan {
	return j.many(links, j.Ensure)
}

// many is the plan of one write for each link, of pairs that differ.
func (j *JoinCollection[L, LK, A, AK, B, BK]) many(links []L, write func(L) model.Write) model.Plan {
	var m linkPlan
	for i := range links {
		w := write(links[i])
		pair, _ := j.pairOf(&links[i]) // the write has checked it
		if j.in.add(&m, i, w, pair) != nil {
			break
		}
	}
	return m.Plan
}

// Unlink returns the write that deletes the link of a pair, if there is one.
//
// Cost: one command, one document, served by the unique index on the pair.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Unlink(left AK, right BK) model.Write {
	pair, err := j.pair(left, right)
	return j.in.unlink(pair, err)
}

// UnlinkLeft returns the write that deletes all links of a left document.
//
// Cost: one command, as many documents as it has links, served by [JoinCollection.Indexes]. The command is not atomic over
// documents; it is idempotent.
func (j *JoinCollection[L, LK, A, AK, B, BK]) UnlinkLeft(left AK) model.Write {
	id, err := j.leftID(left)
	return j.in.deleteMany(j.in.left, id, j.in.leftIndex(), err)
}

// UnlinkRight returns the write that deletes all links of a right document.
//
// Cost: as [JoinCollection.UnlinkLeft].
func (j *JoinCollection[L, LK, A, AK, B, BK]) UnlinkRight(right BK) model.Write {
	id, err := j.rightID(right)
	return j.in.deleteMany(j.in.right, id, j.in.rightIndex(), err)
}

// Update returns the write that applies update operators to the link of a pair. A pair that is not linked gives
// model.ErrStale when it is run. The update is copied; one that touches an id of the pair, or _id, is refused: see
// [JoinCollection.Move].
//
// Cost: one command, one document, served by the unique index on the pair. It can be run again as far as its operators
// can.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Update(left AK, right BK, update bson.D) model.Write {
	pair, err := j.pair(left, right)
	if err != nil {
		return model.Refused(j.in.links, err)
	}
	m := j.links.Modify(pair, update)
	return j.in.update(pair, m.Update, m.Err)
}

// Move returns the write that gives a link, as it was read, other ends; its fields and its _id stay. When the link was
// moved or deleted since, running it gives model.ErrStale; when another link ties the new pair already, a [*LinkedError].
//
// Cost: one command, one document, found by _id; one or two commands more when nothing matched. It can be run again.
func (j *JoinCollection[L, LK, A, AK, B, BK]) Move(link *L, left AK, right BK) model.Write {
	id, err := j.links.ID(link)
	var key any
	var was, next bson.D
	if err == nil {
		key, err = encodeID(j.links, j.in.links, "_id", id)
	}
	if err == nil {
		was, err = j.pairOf(link)
	}
	if err == nil {
		next, err = j.pair(left, right)
	}
	return j.in.move(key, was, next, err)
}
