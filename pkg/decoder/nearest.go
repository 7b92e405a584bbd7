package decoder

import "strings"

// nearest is the candidate with the fewest edits from any of the wanted names,
// ignoring case; ok is false when none is near.
func nearest(wanted, candidates []string) (best string, ok bool) {
	least := 0
	for _, w := range wanted {
		for _, c := range candidates {
			d := distance(strings.ToLower(clip(w)), strings.ToLower(clip(c)))
			if d <= max(len(w), len(c))/2 && (!ok || d < least) {
				best, least, ok = c, d, true
			}
		}
	}
	return best, ok
}

// distance is the number of bytes to insert, delete or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
