package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Orders travel to browsers as JSON and come back. A browser takes each number as IEEE 754 binary64: of the device's id
// it makes another device's, of the price 19.90 it makes 19.9.
type (
	plainOrder struct {
		ID     int64           `bson:"_id" json:"id"`
		Device uint64          `bson:"device" json:"device"`
		Count  int32           `bson:"count" json:"count"`
		Price  bson.Decimal128 `bson:"price" json:"price"`
	}
	safeOrder struct {
		ID     int64         `bson:"_id" json:"id,string"`
		Device schema.Number `bson:"device" json:"device"`
		Count  int32         `bson:"count" json:"count"`
		Price  schema.Number `bson:"price" json:"price"`
		Tax    schema.Number `bson:"tax" json:"tax"`
	}
)

// exact is a number that the program knows to be one.
func exact(text string) schema.Number {
	n, _ := schema.NumberOf(text)
	return n
}

func ExampleNumber() {
	// Which fields are at risk?
	for _, risk := range schema.NumberRisks(model.NewCollection[plainOrder, int64]("orders")) {
		fmt.Println(risk.Path, "-", risk.Reason)
	}
	fmt.Println(len(schema.NumberRisks(model.NewCollection[safeOrder, int64]("orders"))), "at risk then")

	// A Number leaves as a string where it must, and comes back.
	order := safeOrder{1, exact("9007199254740993"), 2, exact("19.90"), exact("0.19")}
	text, err := json.Marshal(order)
	fmt.Println(string(text), err)
	var back safeOrder
	err = json.Unmarshal(text, &back)
	fmt.Println(back == order, err)

	// The database has numbers: it sorts, compares and adds them.
	stored, err := bson.Marshal(order)
	fmt.Println(model.Shell(bson.Raw(stored)), err)

	// The same for a document of any shape: strings stand at the paths that come with it.
	text, risky, err := schema.DocumentJSON(stored)
	fmt.Println(string(text), risky, err)
	doc, err := schema.DocumentFromJSON(text, risky)
	fmt.Println(model.Shell(doc), err)
	// Output:
	// _id - integers above 2^53-1 lose their last digits
	// device - integers above 2^53-1 lose their last digits, and integers above 2^63-1 can't be stored
	// price - encoding/json writes it as {"$numberDecimal": …}, which other readers don't know; as a number it has up to 34 digits, binary64 keeps 15
	// 0 at risk then
	// {"id":"1","device":"9007199254740993","count":2,"price":"19.90","tax":0.19} <nil>
	// true <nil>
	// {_id: Long('1'), device: Long('9007199254740993'), count: 2, price: Decimal128('19.90'), tax: 0.19} <nil>
	// {"_id":1,"device":"9007199254740993","count":2,"price":"19.90","tax":0.19} [device price] <nil>
	// {_id: Long('1'), device: Long('9007199254740993'), count: Long('2'), price: Decimal128('19.90'), tax: 0.19} <nil>
}
