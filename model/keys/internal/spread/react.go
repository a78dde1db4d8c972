package spread

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns how a store keeps a document under the key of its value and of what it is spread by.
func (k *Keys) Reactions() []model.Reaction {
	r := model.Reaction{Collection: k.docs.Name(), Paths: []string{k.path}, Derives: []string{k.path}, Amend: k.amend}
	if k.spec.By != "" {
		r.Paths = append(r.Paths, k.spec.By)
	}
	return []model.Reaction{r}
}

func (k *Keys) amend(w model.StoreWrite) (bson.D, error) {
	held, _ := core.ValueAt(w.After, k.path)
	text, _ := held.StringValueOK()
	value, n := split(text)
	switch {
	case text == "":
		return nil, k.docs.Refuse(k.path, nil, "is missing: set it to a key of Spread.Key or Spread.KeyAt")
	case k.spec.By == "" && (n < 0 || n >= k.spec.Parts):
		return nil, k.docs.Refuse(k.path, text, "isn't a key of the spread: set it to a key of Spread.KeyAt")
	case k.spec.By == "":
		return nil, k.checked(value)
	}
	by, err := bsonLookup(w.After, k.spec.By)
	if err != nil {
		return nil, k.docs.Refuse(k.spec.By, nil, err.Error())
	}
	want, err := k.Key(value, by)
	return bson.D{{Key: k.path, Value: want}}, err
}
