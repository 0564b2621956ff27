// Package editdistance measures how similar a misspelt word is to a known word.
package editdistance

// Distance returns the Levenshtein distance of two words: the minimum number of bytes to insert, remove or change to
// turn one word into the other.
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

// Within reports whether the distance of two words is at most n. If the difference of their lengths is larger than n,
// it does not compute the distance.
func Within(a, b string, n int) bool {
	return len(a) <= len(b)+n && len(b) <= len(a)+n && Distance(a, b) <= n
}
