package pipeline

import (
	"testing"

	"github.com/outbox-cdc/outbox-cdc/pkg/decoder"
)

func TestResume(t *testing.T) {
	var r resume
	at := func(n uint64) decoder.Position { return decoder.Position{Commit: 1000, Ordinal: n} }
	if again, ok := r.begin(1000); again || !ok {
		t.Fatal("a first Begin is neither again nor wrong")
	}
	r.took(at(1))
	r.took(at(2))
	r.lost()
	r.lost() // a session that was lost before it sent anything
	if again, ok := r.begin(1000); !again || !ok {
		t.Fatal("the transaction that was cut off comes again")
	}
	if !r.skip(at(1)) || !r.skip(at(2)) || r.skip(at(3)) {
		t.Error("what was handed out is skipped, and nothing else")
	}
	r.took(at(3))
	r.commit(1008)
	if again, ok := r.begin(2000); again || !ok || r.skip(decoder.Position{Commit: 2000, Ordinal: 1}) {
		t.Error("the next transaction begins anew")
	}
	r.commit(2008)
	r.lost()
	if again, ok := r.begin(3000); again || !ok {
		t.Error("nothing was cut off between transactions")
	}
	r.lost()
	if _, ok := r.begin(4000); ok {
		t.Error("another transaction in place of the one that was cut off")
	}
	if r.end != 2008 {
		t.Errorf("end %v", r.end)
	}
}
