// Package bytesize writes counts of bytes as people read them, the same as the Studio does.
package bytesize

import "strconv"

// Text is a size in the largest unit that leaves a number of at least one, such as 256 MiB. It has a digit after the point
// below ten, when that says more.
func Text[N int | int64](n N) string {
	if n < 1<<10 {
		return strconv.FormatInt(int64(n), 10) + " B"
	}
	size, unit := float64(n)/(1<<10), 0
	for size >= 1<<10-0.5 && unit < len(units)-1 { // what is written as 1024 is one of the next
		size, unit = size/(1<<10), unit+1
	}
	digits := 0
	if tenths := strconv.FormatFloat(size, 'f', 1, 64); size < 10 && tenths[len(tenths)-1] != '0' {
		digits = 1
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + " " + units[unit]
}

var units = [...]string{"KiB", "MiB", "GiB"}
