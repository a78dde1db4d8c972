package keys_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
)

// Messages are kept by key alone. A reader who is at one wants the one before and the one after it, and yesterday's
// mail. So the key is the user's id and a number from the user's counter, and the keys of each day's mail are listed in
// a bag.
type letter struct {
	ID   string    `bson:"_id"`
	Sent time.Time `bson:"sent"`
	Text string    `bson:"text"`
}

var (
	letters  = model.NewCollection[letter, string]("messages")
	counters = model.NewCollection[keys.SequenceCounter[string], string]("counters")
	bags     = model.NewCollection[keys.DayBucket, string]("bags")
	mailbox  = keys.NewSequence(letters, counters, keys.SequenceSpec{
		Digits: 10, Days: bags, Location: time.FixedZone("CET", 3600),
	})
	mail = model.NewStore(model.New("mail", mailbox), letters)
)

func ExampleSequence() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("mail")

	// Numbers come ten to a command. A message and its place in the day's bag are one change, which can be run again.
	numbers := mailbox.Allocator(db, 10)
	sent := time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)
	for i := range 12 {
		n, err := numbers.Next(ctx, "ann_lee")
		if err != nil {
			fmt.Println(err)
			return
		}
		at := sent.Add(time.Duration(i) * 10 * time.Minute)
		key, err := mailbox.Key("ann_lee", n)
		if err != nil {
			fmt.Println(err)
			return
		}
		insert, pack := mail.Insert(letter{ID: key, Sent: at, Text: fmt.Sprint("message ", n)}),
			mailbox.Days.Pack("ann_lee", n, at)
		if _, err := insert.Also(pack).Run(ctx, db); err != nil {
			fmt.Println(err)
			return
		}
		if n == 10 {
			fmt.Println(key)
			fmt.Println(pack)
		}
	}
	fmt.Println(mailbox.Take("ann_lee", 10)) // what the allocator sends

	previous := mailbox.Previous("ann_lee", 10).Limited(1)
	fmt.Println(previous)
	before, err := previous.One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	next, err := mailbox.Following("ann_lee", 10).One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(before.Text, "|", next.Text)

	// Ten in the evening in London is eleven here: from the seventh on it is the next day.
	bag, err := mailbox.Days.Before("ann_lee", "2026-11-22").One(ctx, db)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bag.ID, "has", len(bag.Keys), "up to", bag.Keys[len(bag.Keys)-1])
	owner, n, err := mailbox.Parse(bag.Keys[0])
	fmt.Println(owner, n, err)

	// What is sent for numbers without a gap, in one transaction.
	fmt.Println(mailbox.Append("ann_lee", letter{Sent: sent, Text: "a receipt"}).Decide(21))
	// Output:
	// ann%5Flee_0000000010
	// db.bags.updateOne({_id: 'ann%5Flee_2026-11-22'}, {$addToSet: {keys: 'ann%5Flee_0000000010'}}, {upsert: true})
	// db.counters.findAndModify({query: {_id: 'ann_lee', last: {$type: ['int', 'long'], $gte: Long('0'), $lte: Long('9999999989')}}, update: {$inc: {last: Long('10')}}, new: true})
	// db.messages.find({_id: {$gte: 'ann%5Flee_0000000000', $lt: 'ann%5Flee_0000000010'}}).sort({_id: -1}).limit(1)
	// message 9 | message 11
	// ann%5Flee_2026-11-21 has 6 up to ann%5Flee_0000000006
	// ann_lee 1 <nil>
	// db.counters.updateOne({_id: 'ann_lee', last: Long('20')}, {$set: {last: Long('21')}})
	// db.messages.insertOne({_id: 'ann%5Flee_0000000021', sent: ISODate('2026-11-21T22:00:00.000Z'), text: 'a receipt'}) <nil>
}
