package config

// nearest is the candidate with the smallest edit distance to name, the first
// of equals.
func nearest(name string, candidates []string) string {
	best, distance := "", -1
	for _, c := range candidates {
		if d := editDistance(name, c); distance < 0 || d < distance {
			best, distance = c, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of bytes
// between a and b (Levenshtein).
func editDistance(a, b string) int {
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
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
