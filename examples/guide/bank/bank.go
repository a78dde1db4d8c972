// Package bank moves money between accounts: see docs/GUIDE.md.
package bank

import (
	"errors"

	"github.com/docmodel/docmodel/model"
)

type Account struct {
	ID    string `bson:"_id"`
	Cents int64  `bson:"cents"`
}

// A Transfer moves money from one account to another.
type Transfer struct {
	ID    string `bson:"_id"` // of the client's request: its Idempotency-Key
	From  string `bson:"from"`
	To    string `bson:"to"`
	Cents int64  `bson:"cents"`
}

var (
	accounts  = model.NewCollection[Account, string]("accounts")
	transfers = model.NewCollection[Transfer, string]("transfers")

	bank          = model.New("bank", model.Entity(accounts), model.Entity(transfers))
	accountStore  = model.NewStore(bank, accounts)
	transferStore = model.NewStore(bank, transfers)
)

var ErrPoor = errors.New("bank: there is less in the account")

// Move writes three documents in one transaction.
func Move(t Transfer) model.Change {
	return transferStore.Insert(t).Also(add(t.From, -t.Cents), add(t.To, t.Cents))
}

// add changes the balance of one account.
func add(account string, cents int64) model.ChangeOf[model.Stored[Account]] {
	return accountStore.Edit(account, func(a *Account) error {
		if a.Cents += cents; a.Cents < 0 {
			return ErrPoor
		}
		return nil
	})
}
