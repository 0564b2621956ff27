package httpapi

// What tests look at by itself.
var SendEvents = sendEvents
