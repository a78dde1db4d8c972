package modeltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/testserver"
	"github.com/docmodel/docmodel/mongotest"
)

// A director releases the commands of two operations one at a time, in the order of a
// schedule.
type director struct {
	match    mongotest.Match
	patience time.Duration
	events   chan stageEvent
	actors   [2]*actor
	taken    schedule
	steps    []string
	released []mongotest.Command
}

// An actor is a running operation.
type actor struct {
	name    string
	pending []stageEvent // commands that wait for their turn
	done    bool
	blocked bool // it didn't reach its next command in time
	err     error
	txn     *transactions
}

// A stageEvent says that an operation wants to send a command, or has ended.
type stageEvent struct {
	actor   *actor
	command mongotest.Command
	turn    chan struct{} // closed when the command may be sent
	done    bool
	err     error
}

// hold delays a command of the actor until its turn.
func (d *director) hold(a *actor, x testserver.Exchange) error {
	e := stageEvent{actor: a, command: newCommand(x.Command()), turn: make(chan struct{})}
	e.command.Body = testserver.Clip(e.command.Body)
	d.events <- e
	if err := x.Wait(e.turn); err != nil {
		return err
	}
	return x.Forward()
}

// stuck is how often the patience may pass without an event.
const stuck = 100

// direct runs both operations to their ends.
func (d *director) direct(s schedule) error {
	for idle := 0; ; {
		d.await()
		a := d.choose(s)
		switch {
		case a != nil:
			idle = 0
			d.release(a)
		case d.actors[0].done && d.actors[1].done:
			return nil
		default:
			if idle++; idle == stuck {
				return errors.New("both operations wait, and neither sends a command" + d.story())
			}
		}
	}
}

// await returns when each operation has reached a command, has ended, or has used up its
// patience.
func (d *director) await() {
	for _, a := range d.actors {
		a.blocked = false
	}
	timer := time.NewTimer(d.patience)
	defer timer.Stop()
	for d.anyRunning() {
		select {
		case e := <-d.events:
			if e.done {
				e.actor.done, e.actor.err = true, e.err
			} else {
				e.actor.pending = append(e.actor.pending, e)
			}
		case <-timer.C:
			for _, a := range d.actors {
				a.blocked = !a.done && len(a.pending) == 0
			}
		}
	}
}

func (d *director) anyRunning() bool {
	for _, a := range d.actors {
		if !a.done && !a.blocked && len(a.pending) == 0 {
			return true
		}
	}
	return false
}

// choose returns the operation that continues, or nil if neither can. If both can, it
// follows the schedule. An operation that was refused because of the other's open
// transaction must wait for the transaction's end, because it would only be refused
// again.
func (d *director) choose(s schedule) *actor {
	a, b := d.actors[0], d.actors[1]
	switch {
	case len(a.pending) == 0 && len(b.pending) == 0:
		return nil
	case len(b.pending) == 0 || len(a.pending) > 0 && b.txn.waitFor(a.txn):
		return a
	case len(a.pending) == 0 || a.txn.waitFor(b.txn):
		return b
	}
	choice := a
	if n := len(d.taken); n < len(s) && s[n] == 'B' {
		choice = b
	}
	d.taken += schedule(choice.name)
	return choice
}

func (d *director) release(a *actor) {
	e := a.pending[0]
	a.pending = a.pending[1:]
	d.steps = append(d.steps, a.name+" "+e.command.String())
	d.released = append(d.released, e.command)
	close(e.turn)
}

// story lists the sent commands in order, and how both operations ended.
func (d *director) story() string {
	var b strings.Builder
	for i := 0; i < len(d.steps); {
		n := 1 // equal steps in a row: a waiting operation retries
		for i+n < len(d.steps) && kindOf(d.steps[i+n]) == kindOf(d.steps[i]) {
			n++
		}
		b.WriteString("\n\t" + d.steps[i])
		switch {
		case n > 3:
			fmt.Fprintf(&b, "\n\t… and %d of the same kind\n\t%s", n-2, d.steps[i+n-1])
		default:
			for _, s := range d.steps[i+1 : i+n] {
				b.WriteString("\n\t" + s)
			}
		}
		i += n
	}
	for _, a := range d.actors {
		switch {
		case a == nil:
		case a.done:
			fmt.Fprintf(&b, "\n\t%s returned %v", a.name, a.err)
		default:
			fmt.Fprintf(&b, "\n\t%s had not ended", a.name)
		}
	}
	return b.String()
}

// kindOf returns a step's operation, collection and command name.
func kindOf(step string) string {
	actor, rest, _ := strings.Cut(step, " ")
	name, _, _ := strings.Cut(rest, " ")
	return actor + " " + name
}
