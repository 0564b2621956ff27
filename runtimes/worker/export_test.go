package worker

// CheckResult makes checkResult available to the external test package.
var CheckResult = checkResult
