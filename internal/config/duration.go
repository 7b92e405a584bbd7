package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

var errDuration = errors.New("want a duration with a unit, such as 250ms, 30s, 5m, 2h or 1d")

const day = 24 * time.Hour

// ParseDuration reads Go's duration syntax, and days in front: "1d12h". Signs
// are refused: no setting of ours is negative.
func ParseDuration(s string) (time.Duration, error) {
	if strings.ContainsAny(s, "+-") {
		return 0, errDuration
	}
	var days time.Duration
	if n, rest, ok := strings.Cut(s, "d"); ok {
		if !isDigits(n) {
			return 0, errDuration
		}
		v, err := strconv.ParseInt(n, 10, 64)
		if err != nil || v > math.MaxInt64/int64(day)-1 {
			return 0, errDuration
		}
		days = time.Duration(v) * day
		if rest == "" {
			return days, nil
		}
		s = rest
	}
	d, err := time.ParseDuration(s)
	if err != nil || d > math.MaxInt64-days {
		return 0, errDuration
	}
	return days + d, nil
}
