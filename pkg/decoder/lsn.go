package decoder

import (
	"errors"
	"fmt"
	"strconv"
)

// LSN is a byte position in the write-ahead log: PostgreSQL's pg_lsn.
// The zero LSN is "no position" and is never a valid place in the log.
type LSN uint64

var errLSN = errors.New(`want two hexadecimal numbers of up to 8 digits, such as "16/B374D848"`)

// ParseLSN reads the server's text form, "16/B374D848". Leading zeros are accepted.
func ParseLSN(s string) (LSN, error) {
	for i := range len(s) {
		if s[i] != '/' {
			continue
		}
		hi, lo := s[:i], s[i+1:]
		if !isHex32(hi) || !isHex32(lo) {
			break
		}
		h, _ := strconv.ParseUint(hi, 16, 32)
		l, _ := strconv.ParseUint(lo, 16, 32)
		return LSN(h<<32 | l), nil
	}
	return 0, fmt.Errorf("LSN %q: %w", clip(s), errLSN)
}

func isHex32(s string) bool {
	if s == "" || len(s) > 8 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// String prints the LSN as PostgreSQL does: "16/B374D848", without padding.
func (l LSN) String() string {
	b := make([]byte, 0, 17)
	b = appendUpperHex(b, uint32(l>>32), 1)
	b = append(b, '/')
	return string(appendUpperHex(b, uint32(l&0xFFFFFFFF), 1))
}

// MarshalText makes an LSN a string in JSON and logs.
func (l LSN) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (l *LSN) UnmarshalText(b []byte) error {
	v, err := ParseLSN(string(b))
	if err != nil {
		return err
	}
	*l = v
	return nil
}

const upperHex = "0123456789ABCDEF"

// appendUpperHex appends v with at least width digits.
func appendUpperHex(b []byte, v uint32, width int) []byte {
	digits := 1
	for x := v >> 4; x != 0; x >>= 4 {
		digits++
	}
	for n := max(digits, width); n > 0; n-- {
		b = append(b, upperHex[v>>(4*(n-1))&0xF])
	}
	return b
}

// clip bounds text of unknown origin that goes into an error.
func clip(s string) string {
	if len(s) > 128 {
		return s[:128] + "..."
	}
	return s
}
