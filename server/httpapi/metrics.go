package httpapi

// getMetrics serves the metrics in Prometheus format. The API description does not contain this route.
func (a *API) getMetrics() {
	if a.Metrics != nil {
		a.router.Handle("/metrics", a.Metrics)
	}
}
