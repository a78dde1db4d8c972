package main

import d "github.com/docmodel/docmodel/model/design"

// auction is RUBiS, an auction benchmark: its entities, relations and operations, with
// the sizes, counts and weights of the bidding mix that the authors of NoSE published
// (Mior, Salem, Aboulnaga, Liu: "NoSE: Schema Design for NoSQL Applications", ICDE 2016;
// https://github.com/michaelmior/NoSE, models/rubis.rb and workloads/rubis.rb).
//
// This example adds two assumptions: a range matches half of the documents, and a user is
// shown with the region's name, as in RUBiS itself.
func auction() d.Workload {
	return d.Workload{
		Name: "rubis",
		Entities: []d.Entity{
			{Name: "categories", Count: 50, Fields: []d.Field{{Name: "name", Text: 20}}},
			{Name: "regions", Count: 5, Fields: []d.Field{{Name: "name", Text: 25}}},
			{Name: "users", Count: 2_000, Fields: []d.Field{
				{Name: "firstname", Text: 6}, {Name: "lastname", Text: 7}, {Name: "nickname", Text: 12}, {Name: "password", Text: 15},
				{Name: "email", Text: 23}, {Name: "rating", Values: 50}, {Name: "balance", Values: 10_000}, {Name: "creationDate"},
			}},
			{Name: "items", Count: 20_000, Fields: []d.Field{
				{Name: "name", Text: 19}, {Name: "description", Text: 197}, {Name: "initialPrice"}, {Name: "quantity", Values: 100},
				{Name: "reservePrice"}, {Name: "buyNow"}, {Name: "nbOfBids", Values: 100}, {Name: "maxBid"}, {Name: "startDate"}, {Name: "endDate"},
			}},
			{Name: "bids", Count: 200_000, Fields: []d.Field{{Name: "qty", Values: 5}, {Name: "bid"}, {Name: "date"}}},
			{Name: "comments", Count: 100_000, Fields: []d.Field{{Name: "rating", Values: 10}, {Name: "date"}, {Name: "comment", Text: 130}}},
			{Name: "purchases", Count: 40_000, Fields: []d.Field{{Name: "qty", Values: 4}, {Name: "date"}}},
		},
		Relations: []d.Relation{
			{Child: "users", Field: "region", Parent: "regions", List: "users"},
			{Child: "items", Field: "seller", Parent: "users", List: "items"},
			{Child: "items", Field: "category", Parent: "categories", List: "items"},
			{Child: "bids", Field: "user", Parent: "users", List: "bids"},
			{Child: "bids", Field: "item", Parent: "items", List: "bids"},
			{Child: "comments", Field: "fromUser", Parent: "users", List: "commentsSent"},
			{Child: "comments", Field: "toUser", Parent: "users", List: "commentsReceived"},
			{Child: "comments", Field: "item", Parent: "items", List: "comments"},
			{Child: "purchases", Field: "buyer", Parent: "users", List: "purchases"},
			{Child: "purchases", Field: "item", Parent: "items", List: "purchases"},
		},
		Operations: []d.Operation{
			{Name: "BrowseCategories", Rate: 7.65, Accesses: []d.Access{user, {Of: "categories"}}},
			{Name: "ViewBidHistory", Rate: 1.54, Accesses: []d.Access{item, {Of: "bids", By: []string{"item"}, Order: "date", Fields: []string{"user.nickname"}}}},
			{Name: "ViewItem", Rate: 14.17, Accesses: []d.Access{item, {Of: "bids", By: []string{"item"}}}},
			{Name: "SearchItemsByCategory", Rate: 15.94, Accesses: []d.Access{
				{Of: "items", By: []string{"category"}, Since: "endDate", Share: 0.5, Limit: 25},
			}},
			{Name: "ViewUserInfo", Rate: 2.48, Accesses: []d.Access{user, received}},
			{Name: "RegisterItem", Rate: 0.53, Accesses: []d.Access{{Do: d.Insert, Of: "items"}}},
			{Name: "RegisterUser", Rate: 1.07, Accesses: []d.Access{{Do: d.Insert, Of: "users"}}},
			{Name: "BuyNow", Rate: 1.16, Accesses: []d.Access{user, item}},
			{Name: "StoreBuyNow", Rate: 1.10, Accesses: []d.Access{
				item, {Do: d.Update, Of: "items", By: []string{"_id"}, Fields: []string{"quantity", "nbOfBids", "endDate"}}, {Do: d.Insert, Of: "purchases"},
			}},
			{Name: "PutBid", Rate: 5.40, Accesses: []d.Access{user, item, {Of: "bids", By: []string{"item"}, Order: "bid", Limit: 2}}},
			{Name: "StoreBid", Rate: 3.74, Accesses: []d.Access{
				item, {Do: d.Insert, Of: "bids"}, {Do: d.Update, Of: "items", By: []string{"_id"}, Fields: []string{"nbOfBids", "maxBid"}},
			}},
			{Name: "PutComment", Rate: 0.46, Accesses: []d.Access{user, item, {Of: "users", By: []string{"_id=other"}}}},
			{Name: "StoreComment", Rate: 0.45, Accesses: []d.Access{
				{Of: "users", By: []string{"_id=other"}}, {Do: d.Update, Of: "users", By: []string{"_id=other"}, Fields: []string{"rating"}},
				{Do: d.Insert, Of: "comments", By: []string{"toUser=other"}},
			}},
			{Name: "AboutMe", Rate: 1.71, Accesses: []d.Access{
				user, received,
				{Of: "purchases", By: []string{"buyer"}, Since: "date", Share: 0.5, Fields: []string{"item.*"}},
				{Of: "items", By: []string{"seller"}, Since: "endDate", Share: 0.5},
				{Of: "bids", By: []string{"user"}, Since: "item.endDate", Share: 0.5, Fields: []string{"item.*"}},
			}},
			{Name: "SearchItemsByRegion", Rate: 6.34, Accesses: []d.Access{
				{Of: "items", By: []string{"category", "seller.region"}, Since: "endDate", Share: 0.5, Limit: 25},
			}},
			{Name: "BrowseRegions", Rate: 5.39, Accesses: []d.Access{{Of: "regions"}}},
		},
	}
}

var (
	user     = d.Access{Of: "users", By: []string{"_id"}}
	item     = d.Access{Of: "items", By: []string{"_id"}}
	received = d.Access{Of: "comments", By: []string{"toUser"}, Fields: []string{"fromUser.nickname"}}
)

// auctionExpert is the expert's schema from NoSE's evaluation (plans/rubis_expert.rb), as
// documents: an item with its bids and the bidders' nicknames, a user with received
// comments and purchases. The expert's other tables are indexes here.
var auctionExpert = d.Layout{Name: "expert", Stored: map[string]d.Storage{
	"bids.item":       {As: d.Embedded},
	"bids.user":       {Copy: []string{"nickname"}},
	"comments.toUser": {As: d.Embedded},
	"purchases.buyer": {As: d.Embedded},
}}

// auctionCareful follows MongoDB's guides: an item contains its bids, and names are
// copied to where they are shown.
var auctionCareful = d.Layout{Name: "careful", Stored: map[string]d.Storage{
	"bids.item":         {As: d.Embedded},
	"bids.user":         {Copy: []string{"nickname"}},
	"comments.fromUser": {Copy: []string{"nickname"}},
	"items.seller":      {Copy: []string{"region"}},
}}
