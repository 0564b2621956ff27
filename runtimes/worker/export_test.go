package worker

// CheckResult is what a result has to pass, whatever a worker said.
var CheckResult = checkResult
