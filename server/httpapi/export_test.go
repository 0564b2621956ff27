package httpapi

// SendEvents exports sendEvents to tests.
var SendEvents = sendEvents
