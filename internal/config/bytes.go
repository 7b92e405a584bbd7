package config

import (
	"errors"
	"strconv"
	"strings"
)

// Bytes is a size in bytes.
type Bytes int64

type unit struct {
	name   string
	factor int64
}

// sizeUnits go from large to small, so that String finds the shortest form.
func sizeUnits() [11]unit {
	return [...]unit{
		{"PiB", 1 << 50},
		{"TiB", 1 << 40},
		{"GiB", 1 << 30},
		{"MiB", 1 << 20},
		{"KiB", 1 << 10},
		{"PB", 1e15},
		{"TB", 1e12},
		{"GB", 1e9},
		{"MB", 1e6},
		{"KB", 1e3},
		{"B", 1},
	}
}

var (
	errSize     = errors.New("want a size with a unit, such as 64MiB (KiB, MiB, GiB, KB, MB, GB)")
	errTooLarge = errors.New("too large")
	errInteger  = errors.New("want a whole number")
)

// ParseBytes reads a number with a unit, "64MiB" or "1.5GB". A bare number is
// an error, because nobody agrees on its unit; only 0 needs none.
func ParseBytes(s string) (Bytes, error) {
	if s == "0" {
		return 0, nil
	}
	for _, u := range sizeUnits() {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok || u.name == "B" {
			continue
		}
		return scale(strings.TrimRight(digits, " "), u.factor)
	}
	return 0, errSize
}

// scale multiplies a decimal number. Digits and one point only: no sign,
// exponent, underscore or hexadecimal.
func scale(digits string, factor int64) (Bytes, error) {
	whole, frac, point := strings.Cut(digits, ".")
	if !isDigits(whole) || point && !isDigits(frac) || len(frac) > 6 {
		return 0, errSize
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > (1<<62)/factor {
		return 0, errTooLarge
	}
	total := n * factor
	if point {
		f, err := strconv.ParseFloat("0."+frac, 64)
		if err != nil {
			return 0, errSize
		}
		total += int64(f * float64(factor))
	}
	return Bytes(total), nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// String is the shortest exact form: "16MiB", "1500KB", "17B".
func (b Bytes) String() string {
	if b == 0 {
		return "0"
	}
	for _, u := range sizeUnits() {
		if n := int64(b); n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}
