package main

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func ev(seq int) event {
	return event{id: fmt.Sprintf("id-%d", seq), topic: "orders", key: "order-1", seq: seq}
}

func got(e event) arrival {
	return arrival{event: e, position: fmt.Sprintf("00000000/00000001:%010d", e.seq), value: []byte(e.id)}
}

func TestChecker(t *testing.T) {
	tests := []struct {
		name    string
		do      func(*checker)
		want    tally
		verdict string // part of the last line
		code    int
	}{
		{"nothing", func(*checker) {}, tally{}, "FAILED: sent 0, received 0: nothing was written", exitFailed},
		{"all well", func(c *checker) {
			c.commit([]event{ev(1), ev(2)})
			c.receive(got(ev(1)))
			c.receive(got(ev(2)))
			c.rollBack([]event{ev(3)})
		}, tally{sent: 2, received: 2, rolledBack: 1}, "demo: sent 2, received 2, lost 0, out of order 0, rolled back and absent 1", exitOK},
		{"arrival before its writer says so", func(c *checker) {
			c.receive(got(ev(1)))
			c.commit([]event{ev(1)})
		}, tally{sent: 1, received: 1}, "demo: sent 1, received 1, lost 0", exitOK},
		{"a lost event", func(c *checker) {
			c.commit([]event{ev(1), ev(2), ev(3)})
			c.receive(got(ev(1)))
			c.receive(got(ev(3)))
		}, tally{sent: 3, received: 2, lost: 1}, "FAILED: sent 3, received 2: 1 lost", exitFailed},
		{"duplicates in order", func(c *checker) {
			c.commit([]event{ev(1), ev(2), ev(3)})
			for _, seq := range []int{1, 2, 1, 2, 3} {
				c.receive(got(ev(seq)))
			}
		}, tally{sent: 3, received: 3, duplicates: 2}, "received 3, lost 0", exitOK},
		{"out of order", func(c *checker) {
			c.commit([]event{ev(1), ev(2)})
			c.receive(got(ev(2)))
			c.receive(got(ev(1)))
		}, tally{sent: 2, received: 2, misordered: 1}, "FAILED: sent 2, received 2: 1 out of order", exitFailed},
		{"keys have no order among each other", func(c *checker) {
			other := ev(1)
			other.id, other.key = "other", "order-2"
			c.commit([]event{ev(2), other})
			c.receive(got(ev(2)))
			c.receive(got(other))
		}, tally{sent: 2, received: 2}, "lost 0, out of order 0", exitOK},
		{"rolled back, delivered", func(c *checker) {
			c.commit([]event{ev(1)})
			c.receive(got(ev(1)))
			c.rollBack([]event{ev(2)})
			c.receive(got(ev(2)))
		}, tally{sent: 1, received: 1, rolledBack: 1, undead: 1}, "1 rolled back but delivered", exitFailed},
		{"invented", func(c *checker) {
			c.commit([]event{ev(1)})
			c.receive(got(ev(1)))
			c.receive(got(ev(2)))
		}, tally{sent: 1, received: 1, invented: 1}, "1 delivered but never written", exitFailed},
		{"wrong topic", func(c *checker) {
			c.commit([]event{ev(1)})
			wrong := got(ev(1))
			wrong.topic = "payments"
			c.receive(wrong)
		}, tally{sent: 1, received: 1, misrouted: 1}, "1 with a wrong topic", exitFailed},
		{"a duplicate with other bytes", func(c *checker) {
			c.commit([]event{ev(1)})
			c.receive(got(ev(1)))
			other := got(ev(1))
			other.value = []byte("other")
			c.receive(other)
		}, tally{sent: 1, received: 1, duplicates: 1, changed: 1}, "1 duplicates that differ", exitFailed},
		{"a duplicate with another position", func(c *checker) {
			c.commit([]event{ev(1)})
			c.receive(got(ev(1)))
			other := got(ev(1))
			other.position = "00000000/00000002:0000000001"
			c.receive(other)
		}, tally{sent: 1, received: 1, duplicates: 1, changed: 1}, "1 duplicates that differ", exitFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newChecker()
			test.do(c)
			books := c.tally()
			if books != test.want {
				t.Errorf("tally = %+v, want %+v", books, test.want)
			}
			line, code := verdict(books, nil)
			if !strings.Contains(line, test.verdict) || code != test.code {
				t.Errorf("verdict = %q, %d; want %q, %d", line, code, test.verdict, test.code)
			}
		})
	}
}

func TestReceiveTellsFirstArrivals(t *testing.T) {
	c := newChecker()
	if !c.receive(got(ev(1))) {
		t.Error("a first arrival is called a duplicate")
	}
	if c.receive(got(ev(1))) {
		t.Error("a duplicate is called a first arrival")
	}
}

// TestCheckerFindsWhatIsMissing loses and repeats events at random: exactly
// what was lost must be reported, and repeats must never be.
func TestCheckerFindsWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "events")
		lost := rapid.SliceOfNDistinct(rapid.IntRange(1, n), 0, n, rapid.ID[int]).Draw(t, "lost")
		restart := rapid.IntRange(1, n).Draw(t, "restart")
		c := newChecker()
		missing := map[int]bool{}
		for _, seq := range lost {
			missing[seq] = true
		}
		deliver := func(from, to int) (count int) {
			for seq := from; seq <= to; seq++ {
				if !missing[seq] {
					c.receive(got(ev(seq)))
					count++
				}
			}
			return count
		}
		for seq := range n {
			c.commit([]event{ev(seq + 1)})
		}
		repeated := deliver(1, restart)
		deliver(1, n)
		want := tally{sent: n, received: n - len(lost), lost: len(lost), duplicates: repeated}
		if books := c.tally(); books != want {
			t.Fatalf("tally = %+v, want %+v", books, want)
		}
	})
}
