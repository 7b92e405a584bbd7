package router

import "strings"

// didYouMean is a hint with the name nearest to a mistyped one, or the whole
// list where nothing is near.
func didYouMean(name string, known []string) string {
	best, bestDistance := "", 1+(len(name)+1)/3
	for _, k := range known {
		if d := distance(name, k, bestDistance); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best != "" {
		return "did you mean " + quote(best) + "?"
	}
	return "want one of " + strings.Join(known, ", ")
}

// distance is the Levenshtein distance, or limit if it is not smaller. The
// limit also bounds the work for a very long name.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], limit)
}
