package compose

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// owned is a document as the scope's tenant has it.
func owned(doc any) any {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return append(decoded(raw), scope.Tenant...)
}

// addTheirs adds the other tenant's equal documents, under _ids of their own.
func addTheirs(docs map[string][]any) {
	for name, list := range docs {
		for _, doc := range list {
			d := decoded(doc.(bson.Raw))
			i := slices.IndexFunc(d, func(e bson.E) bool { return e.Key == "tenant" })
			if i < 0 {
				continue // the library's own
			}
			d[i].Value = "theirs"
			switch id := d[0].Value.(type) {
			case string:
				d[0].Value = id + "~"
			case bson.D:
				d[0].Value = append(slices.Clone(id), e("~", 1))
			case bson.ObjectID:
				id[0] ^= 0xff
				d[0].Value = id
			default:
				panic("no other _id is known for one of this type in " + name)
			}
			docs[name] = append(docs[name], d)
		}
	}
}

func decoded(raw bson.Raw) (d bson.D) {
	if err := bson.Unmarshal(raw, &d); err != nil {
		panic(err)
	}
	return d
}

// without is a document less its fields at "collection.path", in the order of their names.
func without(raw bson.Raw, collection string, paths []string) (bson.Raw, error) {
	return bson.Marshal(less(decoded(raw), collection, paths))
}

func less(d bson.D, at string, paths []string) (out bson.D) {
	for _, f := range d {
		here := at + "." + f.Key
		if slices.Contains(paths, here) {
			continue
		}
		switch v := f.Value.(type) {
		case bson.D:
			f.Value = less(v, here, paths)
		case bson.A:
			list := slices.Clone(v)
			for i, x := range list {
				if sub, ok := x.(bson.D); ok {
					list[i] = less(sub, here, paths)
				}
			}
			f.Value = list
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) }) // servers add fields in orders of their own
	return out
}
