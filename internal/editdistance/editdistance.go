// Package editdistance tells how near a misspelt word is to one that is known.
package editdistance

// Distance is Levenshtein's: how many bytes must be put in, taken out or changed to make one word of the other.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(corner+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Within says whether two words are at most n apart, without a look at words whose lengths are further apart.
func Within(a, b string, n int) bool {
	return len(a) <= len(b)+n && len(b) <= len(a)+n && Distance(a, b) <= n
}
