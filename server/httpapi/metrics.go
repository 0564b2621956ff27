package httpapi

// getMetrics serves the metrics in Prometheus format. It is not part of the API's description.
func (a *API) getMetrics() {
	if a.Metrics != nil {
		a.router.Handle("/metrics", a.Metrics)
	}
}
