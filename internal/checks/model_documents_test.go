package checks

import (
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// The documents that the cases are about: products and their parts, portfolios and stocks, hosts and their messages.
type (
	product struct {
		ID    string   `bson:"_id"`
		Name  string   `bson:"name"`
		Parts []string `bson:"parts,omitempty"`
	}
	sparePart struct {
		ID   string  `bson:"_id"`
		Name string  `bson:"name"`
		Cost float64 `bson:"cost"`
	}
	partName struct {
		Name string `bson:"name"`
	}
	holding struct {
		StockID string `bson:"stockId"`
		Number  int64  `bson:"number"`
		Note    string `bson:"note,omitempty"`
	}
	portfolio struct {
		ID       string    `bson:"_id"`
		Holdings []holding `bson:"holdings,omitempty"`
	}
	stock = host
	host  struct {
		ID   string `bson:"_id"`
		Name string `bson:"name,omitempty"`
	}
	logmsg struct {
		ID   bson.ObjectID `bson:"_id"`
		Host string        `bson:"host,omitempty"`
		Time time.Time     `bson:"time"`
		Text string        `bson:"text"`
	}
)

var (
	products   = model.NewCollection[product, string]("products")
	parts      = model.NewCollection[sparePart, string]("parts")
	portfolios = model.NewCollection[portfolio, string]("portfolios")
	stocks     = model.NewCollection[stock, string]("stocks")
	hosts      = model.NewCollection[host, string]("hosts")
	logmsgs    = model.NewCollection[logmsg, bson.ObjectID]("logmsgs")
	anything   = model.NewCollection[bson.D, any]("anything")
)

// bareEnd holds ids of others, as the documents at either end of some relations do: each type takes its time to
// compile.
type bareEnd struct {
	ID      string   `bson:"_id"`
	Owner   string   `bson:"owner,omitempty"`
	Tasks   []string `bson:"tasks,omitempty"`
	Books   []string `bson:"books,omitempty"`
	Authors []string `bson:"authors,omitempty"`
}

// oid is an ObjectID that ends in n.
func oid(n byte) bson.ObjectID { return bson.ObjectID{0x50, 0x7f, 11: n} }

// noon is a time, and minutes after it others.
func noon(minutes int) time.Time {
	return time.Date(2014, 3, 28, 12, minutes, 0, 0, time.UTC)
}
