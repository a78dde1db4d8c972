package runctx_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/runctx"
)

// Outside transactions the first attempt may hope, unless what it writes has to last.
func TestHopeFirst(t *testing.T) {
	ctx := t.Context()
	first := runctx.First(ctx, true)
	if runctx.HopeFirst(ctx) || !runctx.HopeFirst(first) || runctx.HopeFirst(runctx.Lasting(first)) {
		t.Error("the wrong attempt hopes")
	}
	if again := runctx.First(first, false); runctx.HopeFirst(again) || runctx.First(first, true) != first {
		t.Error("a later attempt hopes")
	}
}

// A transaction that is run again for sure hopes for nothing. One that hopes notes it.
func TestHope(t *testing.T) {
	var none *runctx.Tx
	sure, hopeful := &runctx.Tx{Sure: true}, &runctx.Tx{}
	if none.Hope() || sure.Hope() || sure.Hoped || !hopeful.Hope() || !hopeful.Hoped {
		t.Error("the wrong transaction hopes")
	}
	// A context without a session is in no transaction.
	if ctx := runctx.InTx(t.Context(), hopeful); runctx.TxOf(ctx) != nil || runctx.Hope(ctx) {
		t.Error("a transaction without a session")
	}
}
