package worker

import (
	"fmt"
	"strconv"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/runtimes"
)

// reached returns the error for a run that reached a limit or was cancelled. The error contains the limit, its value
// and a remedy.
func reached(kind runtimes.ErrorType, limits runtimes.Limits) *runtimes.ProgramError {
	failure := &runtimes.ProgramError{Type: kind}
	raise := func(field, now string) string { return "Raise limits." + field + " (now " + now + ")" }
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	switch kind {
	case runtimes.Timeout:
		failure.Message = fmt.Sprintf("The program was stopped at its time limit of %d ms.", limits.TimeoutMs)
		failure.Remedy = raise("timeoutMs", count(limits.TimeoutMs)) + " or do less in one run."
	case runtimes.MemoryLimit:
		failure.Message = fmt.Sprintf("The program exceeded its memory limit of %s.", bytesize.Text(limits.MemoryBytes))
		failure.Remedy = raise("memoryBytes", bytesize.Text(limits.MemoryBytes)) + " or use less memory at once. Files that the program writes count as memory."
	case runtimes.OutputLimit:
		failure.Message = fmt.Sprintf("The program exceeded its output limit of %s.", bytesize.Text(limits.OutputBytes))
		failure.Remedy = raise("outputBytes", bytesize.Text(limits.OutputBytes)) + " or print and return less."
	case runtimes.ProcessLimit:
		failure.Message = fmt.Sprintf("The program exceeded its limit of %d processes and threads.", limits.Processes)
		failure.Remedy = raise("processes", count(limits.Processes)) + " or start fewer at once."
	case runtimes.DiskLimit:
		failure.Message = fmt.Sprintf("The program exceeded its disk limit of %s.", bytesize.Text(limits.DiskBytes))
		failure.Remedy = raise("diskBytes", bytesize.Text(limits.DiskBytes)) + " or delete files that are no longer needed."
	case runtimes.RecursionLimit:
		failure.Message = fmt.Sprintf("The program exceeded its limit of %d nested calls.", limits.RecursionDepth)
		failure.Remedy = raise("recursionDepth", count(limits.RecursionDepth)) + " or check the program for endless recursion."
	case runtimes.Cancelled:
		failure.Message = "The run was cancelled."
	}
	return failure
}

// cpuReached returns the timeout error for a run that reached its limit of CPU time. reached handles elapsed time.
func cpuReached(limits runtimes.Limits) *runtimes.ProgramError {
	return &runtimes.ProgramError{
		Type:    runtimes.Timeout,
		Message: fmt.Sprintf("The program was stopped at its limit of %d ms of CPU time.", limits.CPUMs),
		Remedy:  fmt.Sprintf("Raise limits.cpuMs (now %d) or compute less in one run.", limits.CPUMs),
	}
}

// resultTooLarge returns the output limit error for a result that is too large. reached handles printed output.
func resultTooLarge(limits runtimes.Limits) *runtimes.ProgramError {
	return &runtimes.ProgramError{
		Type:    runtimes.OutputLimit,
		Message: fmt.Sprintf("The result of the program exceeds the output limit of %s.", bytesize.Text(limits.OutputBytes)),
		Remedy:  fmt.Sprintf("Raise limits.outputBytes (now %s) or return less.", bytesize.Text(limits.OutputBytes)),
	}
}
