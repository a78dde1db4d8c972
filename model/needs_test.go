package model_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A model says which features of a server its techniques can't do without, each once, and for what.
func TestModelNeeds(t *testing.T) {
	lines := embed.NewEmbedded[bson.D](model.NewCollection[bson.D, string]("verses"), "lines",
		embed.EmbeddedSpec{Key: "id"})
	expiring := func(after time.Duration) model.Technique {
		return schema.NewExpiry(anyShops, "until", schema.ExpirySpec{After: after})
	}
	for _, test := range []struct {
		reason     string
		techniques []model.Technique
		want       string
	}{
		{"nothing", []model.Technique{songCount, songNames, shopTree}, "[]"},
		{
			reason: "elements that move", techniques: []model.Technique{songNames, lines},
			want: "[transactions: embed.Embedded: Move between arrays of verses]",
		},
		{
			reason: "an index that deletes", techniques: []model.Technique{expiring(time.Hour)},
			want: "[TTL indexes: schema.Expiry: shops.until_1 deletes documents]",
		},
		{
			reason: "a feed", techniques: []model.Technique{feedOf("a"), feedOf("b")},
			want: "[change streams: feed.Feed: Stream follows shops without Since]",
		},
	} {
		if got := fmt.Sprint(model.New("test", test.techniques...).Needs()); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}
