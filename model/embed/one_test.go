package embed_test

import (
	"testing"

	"github.com/docmodel/docmodel/model"
)

func TestOne(t *testing.T) {
	home := embPerson{ID: "p", Home: &embHome{City: "Rome", Zip: "1"}}
	embRun(t, []embCase{
		{
			reason: "put where there is none", before: embP(""), write: embHomes.Put("p", embHome{City: "Oslo"}),
			after: "{_id: 'p', home: {city: 'Oslo'}}", err: nil, once: true,
		},
		{"put over another", home, embHomes.Put("p", embHome{City: "Oslo"}), "{_id: 'p', home: {city: 'Oslo'}}", nil, true},
		{"put nowhere", nil, embHomes.Put("p", embHome{}), "", model.ErrNotFound, false},
		{"created", embP(""), embHomes.Create("p", embHome{City: "Oslo"}), "{_id: 'p', home: {city: 'Oslo'}}", nil, true},
		{
			reason: "created where null is stored", before: d("_id", "p", "home", nil),
			write: embHomes.Create("p", embHome{City: "Oslo"}), after: "{_id: 'p', home: {city: 'Oslo'}}", err: nil, once: true,
		},
		{"created over another", home, embHomes.Create("p", embHome{City: "Oslo"}), "", model.ErrTaken, false},
		{"created nowhere", nil, embHomes.Create("p", embHome{}), "", model.ErrNotFound, false},
		{
			reason: "set", before: home, write: embHomes.Update("p", d("$set", d("zip", "2"))),
			after: "{_id: 'p', home: {city: 'Rome', zip: '2'}}", err: nil, once: true,
		},
		{"set where there is none", embP(""), embHomes.Update("p", d("$set", d("zip", "2"))), "", model.ErrNotFound, false},
		{
			reason: "set where null is stored", before: d("_id", "p", "home", nil),
			write: embHomes.Update("p", d("$set", d("zip", "2"))), after: "", err: model.ErrNotFound, once: false,
		},
		{"set nowhere", nil, embHomes.Update("p", d("$set", d("zip", "2"))), "", model.ErrNotFound, false},
		{"an unknown field", home, embHomes.Update("p", d("$set", d("zap", "2"))), "", errEmbRefused, false},
		{"updated", home, embHomes.Update("p", d("$unset", d("zip", ""))), "{_id: 'p', home: {city: 'Rome'}}", nil, true},
	})
}
