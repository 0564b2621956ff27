package worker

// CheckResult is the check that every result of a worker has to pass.
var CheckResult = checkResult
