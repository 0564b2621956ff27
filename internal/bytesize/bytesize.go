// Package bytesize formats sizes in bytes for people. The Studio uses the same format.
package bytesize

import "strconv"

// Text formats a size, for example 256 MiB. It uses the largest unit in which the number is at least one. A number
// below ten has one decimal place, unless the decimal is zero.
func Text[N int | int64](n N) string {
	if n < 1<<10 {
		return strconv.FormatInt(int64(n), 10) + " B"
	}
	size, unit := float64(n)/(1<<10), 0
	for size >= 1<<10-0.5 && unit < len(units)-1 { // a size that would round to 1024 gets the next larger unit
		size, unit = size/(1<<10), unit+1
	}
	digits := 0
	if tenths := strconv.FormatFloat(size, 'f', 1, 64); size < 10 && tenths[len(tenths)-1] != '0' {
		digits = 1
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + " " + units[unit]
}

var units = [...]string{"KiB", "MiB", "GiB"}
