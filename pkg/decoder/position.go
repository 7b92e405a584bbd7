package decoder

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Position identifies an outbox row within one history (system id, timeline,
// slot, database). It is the same each time the server sends the row, and its
// text form sorts as the rows do.
type Position struct {
	// Commit is the LSN at which the transaction's commit record starts
	// (Begin.final_lsn).
	Commit LSN
	// Ordinal counts the transaction's INSERTs on configured tables, from 1.
	Ordinal uint64
}

// PositionLen is the length of a position's text form for ordinals below 10^10.
const PositionLen = 28

// AppendText appends the fixed text form, "%08X/%08X:%010d". It never fails.
func (p Position) AppendText(b []byte) ([]byte, error) {
	b = appendUpperHex(b, uint32(p.Commit>>32), 8)
	b = append(b, '/')
	b = appendUpperHex(b, uint32(p.Commit&0xFFFFFFFF), 8)
	b = append(b, ':')
	digits := 1
	for x := p.Ordinal; x >= 10; x /= 10 {
		digits++
	}
	for ; digits < 10; digits++ {
		b = append(b, '0')
	}
	return strconv.AppendUint(b, p.Ordinal, 10), nil
}

// String is AppendText as a string.
func (p Position) String() string {
	b, _ := p.AppendText(make([]byte, 0, PositionLen))
	return string(b)
}

// Compare orders positions as the server sends their rows: -1, 0 or +1.
func (p Position) Compare(q Position) int {
	switch {
	case p.Commit < q.Commit, p.Commit == q.Commit && p.Ordinal < q.Ordinal:
		return -1
	case p == q:
		return 0
	}
	return 1
}

var errPosition = errors.New(`want "LSN:ordinal", such as "00000000/01A2B3C4:0000000001"`)

// ParsePosition reads the text form, with or without leading zeros.
func ParsePosition(s string) (Position, error) {
	lsn, ord, ok := strings.Cut(s, ":")
	if ok {
		commit, errL := ParseLSN(lsn)
		n, errN := strconv.ParseUint(ord, 10, 64)
		if errL == nil && errN == nil && n > 0 && ord[0] != '+' {
			return Position{Commit: commit, Ordinal: n}, nil
		}
	}
	return Position{}, fmt.Errorf("position %q: %w", clip(s), errPosition)
}
